/*
 * The sums of an opened recording: what a range holds is the same whether it is added up by blocks
 * or sample by sample, also where long waits reach over many blocks.
 */
#include "unit.h"

#include "host/model/profile.h"
#include "host/ui/slice.h"
#include "host/ui/store.h"

#include <stdlib.h>

#define SAMPLES (SUMS_BLOCK * (SUMS_FACTOR + 1) + 12345)
#define STACKS  700u
#define THREADS 5u
#define STEP_NS 1000u

static struct samples samples = { .stack_count = STACKS };
static struct model_thread *threads[THREADS];
static struct model model = { .samples = &samples, .threads = threads, .thread_count = THREADS };
static struct store store;
static uint64_t seed = 1;

static uint32_t next_random(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33);
}

/* Mostly short; some without length, some waits over a large part of all. */
static uint64_t random_weight(void)
{
	uint32_t chance = next_random() % 1000;

	if (chance == 0)
		return (uint64_t)(next_random() % SAMPLES) * STEP_NS;
	return chance < 50 ? 0 : next_random() % (3 * STEP_NS);
}

static struct recorded_sample random_sample(size_t i)
{
	uint64_t jitter = next_random() % (64 * STEP_NS);

	return (struct recorded_sample){ .thread = next_random() % THREADS,
					 .stack = next_random() % (STACKS + 1) - 1u,
					 .time_ns = (i + 1) * STEP_NS + jitter,
					 .weight_ns = random_weight(),
					 .kind = (uint8_t)(next_random() % SAMPLE_KINDS),
					 .end = next_random() % 8 ? STACK_COMPLETE : STACK_CUT,
					 .state = next_random() % 4 ? 'S' : 'D' };
}

static int store_make(void **state)
{
	(void)state;
	store.model = &model;
	store.items = calloc(SAMPLES, sizeof(*store.items));
	store.count = SAMPLES;
	assert_non_null(store.items);
	for (size_t i = 0; i < SAMPLES; i++)
		store.items[i] = random_sample(i);
	assert_int_equal(store_prepare(&store), 0);
	assert_true(store_has_sums(&store));
	assert_int_equal(store.stacks.counts[1], 1);
	return 0;
}

static int store_unmake(void **state)
{
	(void)state;
	store.model = NULL;
	store_close(&store);
	return 0;
}

static void is_in_order(void **state)
{
	(void)state;
	for (size_t i = 1; i < store.count; i++)
		assert_true(store.items[i - 1].time_ns <= store.items[i].time_ns);
}

static struct slice slice_of(uint64_t from_ns, uint64_t to_ns, unsigned kinds)
{
	return (struct slice){ .model = &model,
			       .items = store.items,
			       .count = store.count,
			       .from_ns = from_ns,
			       .to_ns = to_ns,
			       .kinds = kinds };
}

static void same_profiles(struct slice *slice)
{
	struct profile plain, summed;

	assert_int_equal(slice_gather(slice, /* is_by_thread */ false, &plain), 0);
	slice->store = &store;
	assert_int_equal(slice_gather(slice, /* is_by_thread */ false, &summed), 0);
	slice->store = NULL;
	assert_int_equal(plain.count, summed.count);
	assert_int_equal(plain.sample_count, summed.sample_count);
	assert_int_equal(plain.weight_ns, summed.weight_ns);
	for (size_t i = 0; i < plain.count; i++) {
		const struct profile_entry *a = &plain.entries[i], *b = &summed.entries[i];

		assert_true(a->stack == b->stack && a->end == b->end && a->count == b->count &&
			    a->weight_ns == b->weight_ns && a->squares == b->squares);
	}
	sample_profile_done(&plain);
	sample_profile_done(&summed);
}

static void same_threads(struct slice *slice)
{
	struct thread_profile *plain, *summed;

	assert_int_equal(slice_threads(slice, &plain), 0);
	slice->store = &store;
	assert_int_equal(slice_threads(slice, &summed), 0);
	slice->store = NULL;
	assert_memory_equal(plain, summed, THREADS * sizeof(*plain));
	free(plain);
	free(summed);
}

static void same_range(uint64_t from_ns, uint64_t to_ns, unsigned kinds)
{
	struct slice slice = slice_of(from_ns, to_ns, kinds);

	same_profiles(&slice);
	same_threads(&slice);
}

static void adds_up_any_range(void **state)
{
	static const unsigned kinds[] = { KINDS_ON_CPU, KINDS_OFF_CPU, KINDS_ALL };
	uint64_t last_ns = store.items[store.count - 1].time_ns;

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		uint64_t from_ns = next_random() % (SAMPLES / 2) * (uint64_t)STEP_NS;
		uint64_t to_ns = from_ns + next_random() % SAMPLES * (uint64_t)STEP_NS;

		same_range(from_ns, to_ns, kinds[i % ARRAY_SIZE(kinds)]);
	}
	same_range(0, last_ns + 1, KINDS_ALL);
	same_range(0, last_ns, KINDS_ALL);
}

/* Ends of samples, and the edges of blocks. */
static void adds_up_to_the_nanosecond(void **state)
{
	static const size_t at[] = { 0, 1, 1023, 1024, SUMS_BLOCK - 1, SUMS_BLOCK, SAMPLES - 1 };

	(void)state;
	for (size_t i = 0; i + 1 < ARRAY_SIZE(at); i++)
		same_range(store.items[at[i]].time_ns + i % 2, store.items[at[i + 1]].time_ns,
			   KINDS_ALL);
	same_range(store.items[5].time_ns, store.items[5].time_ns, KINDS_ALL);
	same_range(store.items[9].time_ns, store.items[5].time_ns, KINDS_ALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_in_order),
		cmocka_unit_test(adds_up_any_range),
		cmocka_unit_test(adds_up_to_the_nanosecond),
	};

	return cmocka_run_group_tests(tests, store_make, store_unmake);
}
