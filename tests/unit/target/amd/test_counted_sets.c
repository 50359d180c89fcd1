/*
 * Sets of packets around kernels, and the queues that they are in, where threads are slow between
 * any two steps: who has found a set for one kernel has none when it is around another.
 */
#include "unit.h"

#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/dispatch/sets.h"
#include "target/amd/sinks/sdk/counters/dispatch/visits.h"
#include "target/runtime/hsa_gate.h"

#include <pthread.h>

#define SIZE     64u
#define LIMIT_NS 10000000000ull

static int64_t signals[COUNTED_SETS];
static unsigned signal_count;
static struct hsa_packet packets[SIZE];

int config_packets_prepare(struct config_packets *ret, const struct counter_config *config,
			   struct packet_events *events)
{
	(void)ret, (void)config, (void)events;
	return SDK_SUCCESS;
}

int config_packets_make(const struct config_packets *self, const struct hsa_functions *hsa,
			const struct packet_events *events, struct packet_set *ret)
{
	(void)self, (void)hsa, (void)events, (void)ret;
	return SDK_SUCCESS;
}

bool packet_set_give_back(struct packet_set *set)
{
	(void)set;
	return true;
}

void packet_set_drop(struct packet_set *set)
{
	(void)set;
}

void hsa_gate_leave(void)
{
}

static bool enter(void)
{
	return true;
}

static int signal_create(int64_t value, uint32_t count, const void *consumers, uint64_t *ret)
{
	(void)count, (void)consumers;
	signals[signal_count] = value;
	*ret = (uint64_t)&signals[signal_count++];
	return 0;
}

static int64_t signal_load(uint64_t signal)
{
	return *(const int64_t *)signal;
}

static void signal_store(uint64_t signal, int64_t value)
{
	*(int64_t *)signal = value;
}

static int signal_destroy(uint64_t signal)
{
	(void)signal;
	return 0;
}

static const struct hsa_functions hsa = { .signal_create = signal_create,
					  .signal_load = signal_load,
					  .signal_store = signal_store,
					  .signal_destroy = signal_destroy };
static const struct launch_origin nobody;

static void describe(struct counted_queue *entry, const struct hsa_queue *queue)
{
	(void)queue;
	entry->device = &counted_devices[0];
}

static struct counted_queue *learn(uint64_t doorbell, uint64_t base, uint64_t *lost)
{
	struct hsa_queue queue = { .doorbell = doorbell, .base = base, .size = SIZE };

	return counted_queue_learn(&queue, describe, lost);
}

static int set_up(void **state)
{
	static const struct counter_config config = { .handle = 1 };

	(void)state;
	signal_count = 0;
	counted_queues_clear();
	counted_config_drop(&counted_devices[0].configs[0], false);
	counted_device_count = counted_devices[0].current = 1;
	return counted_config_make(&counted_devices[0].configs[0], &config, &hsa, enter);
}

static struct counted_set *set_begin(struct counted_queue *queue, uint64_t first)
{
	struct counted_set *set = counted_set_acquire(&counted_devices[0]);

	assert_non_null(set);
	counted_set_begin(set, queue, first, &nobody);
	return set;
}

/* All of them are used once more, one of them by the kernel `first`. */
static void sets_use_again(struct counted_queue *queue, struct counted_set *set, uint64_t first)
{
	struct counted_set *again;

	counted_set_recycle(&counted_devices[0], set, &hsa);
	while ((again = set_begin(queue, first)) != set)
		first += 4;
}

static bool set_claim(struct counted_set *set, uint64_t word, int32_t asker)
{
	return __atomic_compare_exchange_n(&set->word, &word, word_asking(word, asker), false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void a_set_that_is_around_another_kernel_is_not_asked_for(void **state)
{
	uint64_t lost, found;
	struct counted_queue *queue = learn(7, (uint64_t)packets, &lost);
	struct counted_set *set = set_begin(queue, 0);

	(void)state;
	found = set->word;
	assert_int_equal(word_answer(found), ANSWER_NONE);
	/* Another thread asks, the device is done, and the set is used again. */
	assert_true(set_claim(set, found, 5));
	assert_int_equal(word_asker(set->word), 5);
	sets_use_again(queue, set, 4);
	assert_int_equal(word_answer(set->word), ANSWER_NONE);
	assert_false(set_claim(set, found, 6));
	assert_true(set_claim(set, set->word, 6));
}

static void a_queue_with_the_same_doorbell_loses_nothing(void **state)
{
	uint64_t lost, life;
	struct counted_set *old = set_begin(learn(7, (uint64_t)packets, &lost), 0), *set;

	(void)state;
	life = counted_queue_forget(7);
	assert_int_not_equal(life, 0);
	set = set_begin(learn(7, (uint64_t)packets, &lost), 0);
	counted_sets_lose(life, &hsa);
	assert_true(old->word & WORD_LOST);
	assert_false(set->word & WORD_LOST);
}

static void what_the_device_has_done_is_not_lost(void **state)
{
	uint64_t lost;
	struct counted_queue *queue = learn(7, (uint64_t)packets, &lost);
	struct counted_set *done = set_begin(queue, 0), *asked = set_begin(queue, 4);

	(void)state;
	signal_store(done->signal, 0);
	assert_true(set_claim(asked, asked->word, 5));
	counted_sets_lose(counted_queue_forget(7), &hsa);
	assert_false(done->word & WORD_LOST);
	assert_true(asked->word & WORD_LOST);
	assert_int_equal(word_answer(asked->word), ANSWER_ASKING);
	assert_int_equal(word_asker(asked->word), 5);
	sets_use_again(learn(7, (uint64_t)packets, &lost), asked, 8);
	assert_false(asked->word & WORD_LOST);
}

static void a_queue_with_two_handles_is_one(void **state)
{
	uint64_t lost;
	struct counted_queue *queue = learn(7, (uint64_t)packets, &lost);
	uint64_t life = queue->life;

	(void)state;
	assert_ptr_equal(learn(7, (uint64_t)packets, &lost), queue);
	assert_int_equal(lost, 0);
	assert_int_equal(queue->life, life);
	/* Another ring: the end of the first was not seen. */
	assert_ptr_equal(learn(7, (uint64_t)(packets + 1), &lost), queue);
	assert_int_equal(lost, life);
	assert_int_not_equal(queue->life, life);
}

static void a_packet_is_there_until_its_place_is_taken(void **state)
{
	uint64_t lost;
	struct counted_queue *queue = learn(7, (uint64_t)packets, &lost);

	(void)state;
	assert_false(counted_queue_has(queue, 0));
	counted_queue_note_taken(queue, 3);
	counted_queue_note_taken(queue, 1);
	assert_true(counted_queue_has(queue, 0));
	assert_true(counted_queue_has(queue, 3));
	assert_false(counted_queue_has(queue, 4));
	counted_queue_note_taken(queue, SIZE);
	assert_false(counted_queue_has(queue, 0));
	assert_true(counted_queue_has(queue, 1));
}

static void a_thread_that_left_its_question_ends_it(void **state)
{
	uint64_t lost;
	struct counted_queue *queue = learn(7, (uint64_t)packets, &lost);
	struct counted_set *left = set_begin(queue, 0), *asked = set_begin(queue, 4);

	(void)state;
	assert_true(set_claim(left, left->word, 5));
	assert_true(set_claim(asked, asked->word, 6));
	counted_sets_leave(5);
	assert_int_equal(word_answer(left->word), ANSWER_NOTHING);
	assert_int_equal(word_answer(asked->word), ANSWER_ASKING);
}

static void sets_of_two_queues_are_mixed(void **state)
{
	uint64_t lost;
	struct counted_queue *first = learn(7, (uint64_t)packets, &lost),
			     *second = learn(8, (uint64_t)packets, &lost);
	struct counted_set *one = set_begin(first, 0), *done = set_begin(first, 4), *other;

	(void)state;
	counted_devices[0].queue_count = 2;
	signal_store(done->signal, 0);
	other = set_begin(second, 0);
	counted_sets_mix(&counted_devices[0], second, other, &hsa);
	assert_true(one->is_mixed);
	assert_true(other->is_mixed);
	assert_false(done->is_mixed);
	counted_sets_spoil();
	assert_true(done->is_mixed);
}

/* Its kernels may run until HSA has destroyed it. */
static void a_queue_that_is_being_destroyed_is_not_quiet(void **state)
{
	uint64_t lost;
	struct counted_queue *first = learn(7, (uint64_t)packets, &lost),
			     *second = learn(8, (uint64_t)packets, &lost);
	struct counted_set *set;

	(void)state;
	counted_devices[0].queue_count = 2;
	assert_false(counted_queue_leave(7));
	counted_queue_note_plain(first, 3, &hsa);
	assert_true(counted_queue_leave(7));
	(void)counted_queue_forget(7);
	set = set_begin(second, 0);
	counted_sets_mix(&counted_devices[0], second, set, &hsa);
	assert_true(set->is_mixed);
	counted_queue_end();
	counted_queue_end();
	set = set_begin(second, 4);
	counted_sets_mix(&counted_devices[0], second, set, &hsa);
	assert_false(set->is_mixed);
}

static uint32_t is_over, comings;

static void *visit_always(void *unused)
{
	unsigned visit = visit_begin(), next;

	(void)unused;
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		next = visit_begin(); /* the next one has begun before this one ends */
		visit_end(visit);
		visit = next;
		__atomic_fetch_add(&comings, 1, __ATOMIC_RELEASE);
	}
	visit_end(visit);
	return NULL;
}

static void who_waits_need_not_find_a_moment_without_visits(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, visit_always, NULL), 0);
	while (!__atomic_load_n(&comings, __ATOMIC_ACQUIRE))
		;
	for (unsigned i = 0; i < 20; i++)
		assert_true(visits_await(LIMIT_NS));
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

static void visits_from_before_are_waited_for(void **state)
{
	unsigned visits[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		visits[i] = visit_begin();
		assert_false(visits_await(1000000));
	}
	for (unsigned i = 0; i < 3; i++)
		visit_end(visits[i]);
	assert_true(visits_await(LIMIT_NS));
}

static uint64_t read_index, rung, looks;

static uint64_t load_read(const struct hsa_queue *queue)
{
	(void)queue;
	/* The device goes on once it is rung. */
	if (rung && read_index <= rung)
		read_index++;
	looks++;
	return read_index;
}

static void ring_it(uint64_t doorbell, int64_t value)
{
	assert_int_equal(doorbell, 7);
	rung = (uint64_t)value;
}

static void a_full_ring_is_waited_for_where_ours_fill_it(void **state)
{
	struct ring_calls calls = { .load_read = load_read, .ring = ring_it };
	struct hsa_ring ring = { NULL, (uint64_t)packets, SIZE, 7, 31 };

	(void)state;
	slots_await(&calls, &ring, SIZE - 1);
	assert_int_equal(rung, 0);
	slots_await(&calls, &ring, SIZE + 9);
	assert_int_equal(rung, 31);
	assert_in_range(read_index, 10, 32);
	/* What is full by the program's own is its own affair. */
	rung = 0;
	read_index = 40;
	looks = 0;
	slots_await(&calls, &ring, SIZE + 60);
	assert_int_equal(rung, 0);
	assert_int_equal(looks, 1);
}

/* Its functions may not be known yet, nor the queue any more. */
static void a_ring_without_packets_of_ours_is_not_looked_at(void **state)
{
	struct ring_calls none = { 0 };
	struct hsa_ring ring = { .size = SIZE };

	(void)state;
	slots_await(&none, &ring, 10 * SIZE);
}

static void the_last_of_ours_is_the_last_of_all_threads(void **state)
{
	uint64_t last = 0;

	(void)state;
	slots_note(&last, 8);
	slots_note(&last, 4);
	assert_int_equal(last, 8);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_set_that_is_around_another_kernel_is_not_asked_for,
				       set_up),
		cmocka_unit_test_setup(a_queue_with_the_same_doorbell_loses_nothing, set_up),
		cmocka_unit_test_setup(what_the_device_has_done_is_not_lost, set_up),
		cmocka_unit_test_setup(a_queue_with_two_handles_is_one, set_up),
		cmocka_unit_test_setup(a_packet_is_there_until_its_place_is_taken, set_up),
		cmocka_unit_test_setup(a_thread_that_left_its_question_ends_it, set_up),
		cmocka_unit_test_setup(sets_of_two_queues_are_mixed, set_up),
		cmocka_unit_test_setup(a_queue_that_is_being_destroyed_is_not_quiet, set_up),
		cmocka_unit_test(who_waits_need_not_find_a_moment_without_visits),
		cmocka_unit_test(visits_from_before_are_waited_for),
		cmocka_unit_test(a_full_ring_is_waited_for_where_ours_fill_it),
		cmocka_unit_test(a_ring_without_packets_of_ours_is_not_looked_at),
		cmocka_unit_test(the_last_of_ours_is_the_last_of_all_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
