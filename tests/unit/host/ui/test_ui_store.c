/*
 * The sums of an opened recording: what a range holds is the same whether it is added up by blocks
 * or sample by sample, also where long waits reach over many blocks; and what lies in parts of
 * time.
 */
#include "unit.h"

#include "host/live/store/bins.h"
#include "host/live/store/slice.h"
#include "host/live/store/store.h"
#include "host/model/samples/profile.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLES (SUMS_BLOCK * (SUMS_FACTOR + 1) + 12345)
#define STACKS  700u
#define THREADS 5u
#define STEP_NS 1000u
#define BINS    97u

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
	for (size_t i = 0; i < SAMPLES; i++) {
		store.items[i] = random_sample(i);
		store.items[i].weight_ns = MIN(store.items[i].weight_ns, store.items[i].time_ns);
	}
	assert_int_equal(store_prepare(&store), 0);
	store.is_read = true;
	store_add_up(&store);
	store_wait(&store);
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
			       .is_points = store.is_points,
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
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint64_t from_ns = next_random() % (SAMPLES / 2) * (uint64_t)STEP_NS;
		uint64_t to_ns = from_ns + next_random() % SAMPLES * (uint64_t)STEP_NS;

		same_range(from_ns, to_ns, kinds[i]);
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

/* Weights that are no time, as bytes are: each lies at its moment, whole. */
static void adds_up_points(void **state)
{
	struct store timed = store;
	struct bins bins = { 0, 0, BINS };
	struct bins_sums sums;
	double all = 0;
	struct slice slice;

	store = (struct store){ .model = &model, .count = SAMPLES, .is_points = true };
	store.items = calloc(SAMPLES, sizeof(*store.items));
	assert_non_null(store.items);
	memcpy(store.items, timed.items, SAMPLES * sizeof(*store.items));
	assert_int_equal(store_prepare(&store), 0);
	store.is_read = true;
	store_add_up(&store);
	store_wait(&store);
	adds_up_any_range(state);
	adds_up_to_the_nanosecond(state);
	slice = slice_of(0, UINT64_MAX, KINDS_ALL);
	bins.step_ns = store.items[SAMPLES - 1].time_ns / BINS + 1;
	assert_int_equal(bins_sums_init(&sums, BINS), 0);
	assert_int_equal(bins_fill(&sums, &bins, &(struct bins_rows){ .count = 1 }, &slice), 0);
	for (size_t i = 0; i < SAMPLES; i++)
		all += (double)store.items[i].weight_ns;
	for (size_t i = 0; i < BINS; i++)
		all -= sums.cells[i];
	assert_true(all == 0);
	bins_sums_done(&sums);
	store.model = NULL;
	store_close(&store);
	store = timed;
}

static void plain_add(const struct bins *bins, const struct piece *piece, double *cells)
{
	for (uint64_t i = 0; i < bins->count; i++) {
		uint64_t begin_ns = MAX(piece->begin_ns, bins->from_ns + i * bins->step_ns);
		uint64_t end_ns = MIN(piece->end_ns, bins->from_ns + (i + 1) * bins->step_ns);

		cells[i] += begin_ns < end_ns ? (double)(end_ns - begin_ns) : 0;
	}
}

static void spreads_pieces_over_bins(void **state)
{
	const struct bins bins = { 1000, 10, BINS };
	double plain[BINS] = { 0 };
	struct bins_sums sums;

	(void)state;
	assert_int_equal(bins_sums_init(&sums, (size_t)2 * BINS), 0);
	for (unsigned i = 0; i < 500; i++) {
		uint64_t begin_ns = 900 + next_random() % 1200;
		const struct piece piece = { begin_ns, begin_ns + next_random() % 400 };

		plain_add(&bins, &piece, plain);
		bins_add(&sums, &bins, BINS, &piece);
	}
	bins_sums_finish(&sums, &bins, (size_t)2 * BINS);
	for (unsigned i = 0; i < BINS; i++)
		assert_true(sums.cells[i] == 0 && sums.cells[BINS + i] == plain[i]);
	bins_sums_done(&sums);
}

/* Threads and kinds apart, by two threads of ours: the same as one after another. */
static void keeps_threads_and_kinds_apart(void **state)
{
	static const uint32_t first[THREADS] = { 0, 1, 2, 3, 4 };
	const struct bins_rows rows = { (size_t)THREADS * SAMPLE_KINDS, first, THREADS };
	struct slice slice = slice_of(SAMPLES / 3 * (uint64_t)STEP_NS,
				      SAMPLES / 2 * (uint64_t)STEP_NS, KINDS_ALL);
	const struct bins bins = { slice.from_ns, (slice.to_ns - slice.from_ns) / BINS + 1, BINS };
	struct bins_sums sums, plain;
	struct piece piece;

	(void)state;
	assert_int_equal(bins_sums_init(&sums, rows.count * BINS), 0);
	assert_int_equal(bins_sums_init(&plain, rows.count * BINS), 0);
	assert_int_equal(bins_fill(&sums, &bins, &rows, &slice), 0);
	for (size_t i = 0; i < slice.count; i++) {
		const struct recorded_sample *sample = &slice.items[i];

		if (slice_piece(&slice, sample, &piece))
			bins_add(&plain, &bins, (sample->thread + sample->kind * THREADS) * BINS,
				 &piece);
	}
	bins_sums_finish(&plain, &bins, rows.count * BINS);
	assert_memory_equal(sums.cells, plain.cells, rows.count * BINS * sizeof(*sums.cells));
	bins_sums_done(&sums);
	bins_sums_done(&plain);
}

/* A recording may say that a million waits lasted for all of it; cell by cell they would take
 * minutes. */
static void spreads_long_waits_at_once(void **state)
{
	const struct bins bins = { 0, 10, 500000 };
	const struct piece all = { 0, UINT64_MAX };
	struct bins_sums sums;

	(void)state;
	assert_int_equal(bins_sums_init(&sums, bins.count), 0);
	for (unsigned i = 0; i < 1000000; i++)
		bins_add(&sums, &bins, 0, &all);
	bins_sums_finish(&sums, &bins, bins.count);
	assert_true(sums.cells[0] == 1e7 && sums.cells[bins.count - 1] == 1e7);
	bins_sums_done(&sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_in_order),
		cmocka_unit_test(adds_up_any_range),
		cmocka_unit_test(adds_up_to_the_nanosecond),
		cmocka_unit_test(adds_up_points),
		cmocka_unit_test(spreads_pieces_over_bins),
		cmocka_unit_test(keeps_threads_and_kinds_apart),
		cmocka_unit_test(spreads_long_waits_at_once),
	};

	return cmocka_run_group_tests(tests, store_make, store_unmake);
}
