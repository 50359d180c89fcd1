/*
 * Samples of allocations: calls that are none are counted and passed on before any C sees them, as
 * they came.
 */
#include "unit.h"

#include "target/domains/cpu/alloc_addresses.h"
#include "target/domains/cpu/alloc_samples.h"
#include "target/hooks/table.h"
#include "target/hooks/writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS     4
#define RING_SIZE 65536
#define LEFT      1000

static struct rings *rings;
static char block[64]; /* what all of these give */

static void *stand_in(size_t size)
{
	return size > SIZE_MAX / 2 ? NULL : block;
}

static void *stand_in_product(size_t count, size_t size)
{
	return count && size ? block : NULL;
}

static void *stand_in_move(void *old, size_t size)
{
	return size ? block : old;
}

static void *stand_in_move_array(void *old, size_t count, size_t size)
{
	return count && size ? block : old;
}

static uint64_t given;

static void stand_in_give(const void *address)
{
	given += (uint64_t)address;
}

static __typeof__(&stand_in) take;
static __typeof__(&stand_in_product) take_product;
static __typeof__(&stand_in_move) move;
static __typeof__(&stand_in_move_array) move_array;
static __typeof__(&stand_in_give) give;

static const struct traced *sampled(const char *symbol)
{
	const struct traced *found = alloc_samples;

	while (strcmp(found->symbol, symbol))
		found++;
	return found;
}

static void hook(void *slot, const char *symbol)
{
	assert_int_equal(table_hook(slot, sampled(symbol), symbol, "libc.so.6"), 0);
}

/* From here on the next sample is LEFT bytes away. */
static struct writer *begin_count(void)
{
	struct writer *writer = writer_mine();

	assert_non_null(writer);
	writer->random = 1;
	writer->sample_left = LEFT;
	return writer;
}

static int setup(void **state)
{
	struct trace_request request = { .alloc_sample = 1 << 20 };
	struct rings layout;
	size_t size = rings_layout(SLOTS, RING_SIZE, 16, &layout);

	(void)state;
	rings = aligned_alloc(65536, size);
	if (!rings)
		return -1;
	memset(rings, 0, size);
	*rings = layout;
	take = stand_in;
	take_product = stand_in_product;
	move = stand_in_move;
	move_array = stand_in_move_array;
	give = stand_in_give;
	if (patches_open() || writers_open(rings, NULL) || !alloc_samples_start(&request))
		return -1;
	hook(&take, "malloc");
	hook(&take_product, "calloc");
	hook(&move, "realloc");
	hook(&move_array, "reallocarray");
	hook(&give, "free");
	begin_count();
	return 0;
}

static int teardown(void **state)
{
	struct patches_left left = { 0 };

	(void)state;
	table_restore(&left);
	hooks_off();
	patches_close();
	if (!writers_close())
		return -1;
	free(rings);
	return 0;
}

/* How many calls were written since the last time, whatever belongs to them. */
static unsigned calls_written(void)
{
	uint64_t buffer[RECORD_MAX_BYTES / 8];
	const struct record *record = (const struct record *)buffer;
	unsigned calls = 0;

	for (uint32_t i = 0; i < SLOTS; i++)
		while (ring_read(rings_slot(rings, i), rings_data(rings, i), RING_SIZE, buffer,
				 sizeof(buffer)) > 0)
			calls += record->kind == RECORD_CALL;
	return calls;
}

static void each_way_of_taking_counts_its_bytes(void **state)
{
	struct writer *writer = writer_mine();

	(void)state;
	assert_ptr_equal(take(100), block);
	assert_int_equal(writer->sample_left, LEFT - 100);
	assert_ptr_equal(take_product(3, 70), block);
	assert_int_equal(writer->sample_left, LEFT - 310);
	assert_ptr_equal(move(&given, 50), block);
	assert_int_equal(writer->sample_left, LEFT - 360);
	assert_null(take_product(0, 70));
	assert_int_equal(writer->sample_left, LEFT - 360);
	assert_int_equal(calls_written(), 0);
}

static void who_crosses_zero_is_written_and_known_when_given_back(void **state)
{
	(void)state;
	take(LEFT - 1);
	assert_int_equal(calls_written(), 0);
	take(1);
	assert_int_equal(calls_written(), 1);
	assert_true(writer_mine()->sample_left > 0);
	give(block + 16);
	assert_int_equal(calls_written(), 0);
	give(block);
	assert_int_equal(calls_written(), 1);
	give(block);
	give(NULL);
	assert_int_equal(calls_written(), 0);
}

static void a_sample_that_is_moved_is_known(void **state)
{
	(void)state;
	take_product(2, LEFT);
	assert_int_equal(calls_written(), 1);
	begin_count();
	move(block, 10);
	assert_int_equal(calls_written(), 1);
	move(block, 10);
	assert_int_equal(calls_written(), 0);
	assert_int_equal(writer_mine()->sample_left, LEFT - 20);
}

/* Who counts down may be interrupted before he has a new distance, and never come back. */
static void a_count_that_was_left_below_zero_goes_on(void **state)
{
	struct writer *writer = writer_mine();

	(void)state;
	writer->sample_left = -5;
	take(10);
	assert_int_equal(calls_written(), 1);
	assert_true(writer->sample_left > 0);
}

static void what_nobody_can_have_is_no_sample(void **state)
{
	struct writer *writer = writer_mine();

	(void)state;
	assert_null(take(SIZE_MAX));
	assert_true(writer->sample_left > 0);
	assert_int_equal(calls_written(), 0);
}

static void a_caller_that_lies_between_allocators_counts(void **state)
{
	struct code all = { 0, UINT64_MAX };

	(void)state;
	alloc_known.operators = all;
	take(10);
	assert_int_equal(writer_mine()->sample_left, LEFT - 10); /* none of them is here */
	alloc_known.operators = (struct code){ 0, 0 };
}

/* reallocarray of most C libraries hands on where no hook sees it. */
static void a_call_that_handed_on_unseen_leaves_no_mark(void **state)
{
	struct writer *writer = writer_mine();

	(void)state;
	assert_ptr_equal(move_array(&given, 2, 50), block);
	assert_int_equal(writer->sample_left, LEFT - 100);
	assert_int_not_equal(writer->handing_on, 0);
	take(10);
	assert_int_equal(writer->sample_left, LEFT - 110);
	assert_int_equal(writer->handing_on, 0);
	assert_int_equal(calls_written(), 0);
}

static void nothing_is_counted_when_it_is_over(void **state)
{
	struct writer *writer = writer_mine();

	(void)state;
	hooks_off();
	assert_ptr_equal(take(10), block);
	move(NULL, 10);
	assert_int_equal(writer->sample_left, LEFT);
}

/* A forked child has its parent's memory, and no session. */
static void a_forked_child_counts_nothing(void **state)
{
	struct writer *writer = writer_mine();
	pid_t child = fork();
	int status;

	(void)state;
	if (!child) {
		bool is_right = take(10) == block && move(NULL, 10) == block;

		give(block);
		_exit(is_right && writer->sample_left == LEFT ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void *first_of_a_thread(void *unused)
{
	(void)unused;
	take(10);
	take(10);
	return writer_mine();
}

static void a_thread_that_has_no_ring_yet_gets_one(void **state)
{
	pthread_t thread;
	void *writer;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, first_of_a_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, &writer), 0);
	assert_non_null(writer);
	assert_ptr_not_equal(writer, writer_mine());
}

/* What travels in registers on every machine, and a number that says whether it has arrived. */
typedef uint64_t many_arguments(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double,
				double, double, double, double, double, double, double);

static uint64_t add_up(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
		       double i, double j, double k, double l, double m, double n, double o,
		       double p)
{
	uint64_t words = a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f;

	return words + (uint64_t)(i + 2 * j + 4 * k + 8 * l + 16 * m + 32 * n + 64 * o + 128 * p);
}

static uint64_t call_with_all(many_arguments *call, uint64_t first)
{
	return call(first, 2, 3, 4, 5, 6, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5);
}

/* Passed on at once, and by way of thunk_chosen. */
static void everything_in_registers_arrives(void **state)
{
	static const char *const symbols[] = { "malloc", "calloc", "realloc", "free" };
	static many_arguments *slots[ARRAY_SIZE(symbols)];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(symbols); i++) {
		slots[i] = add_up;
		hook(&slots[i], symbols[i]);
		begin_count();
		assert_int_equal(call_with_all(slots[i], 100), call_with_all(add_up, 100));
		writer_mine()->sample_left = 1;
		memset(alloc_filter, 1, sizeof(alloc_filter));
		assert_int_equal(call_with_all(slots[i], 100), call_with_all(add_up, 100));
		memset(alloc_filter, 0, sizeof(alloc_filter));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_way_of_taking_counts_its_bytes),
		TEST(who_crosses_zero_is_written_and_known_when_given_back),
		TEST(a_sample_that_is_moved_is_known),
		TEST(a_count_that_was_left_below_zero_goes_on),
		TEST(what_nobody_can_have_is_no_sample),
		TEST(a_caller_that_lies_between_allocators_counts),
		TEST(a_call_that_handed_on_unseen_leaves_no_mark),
		TEST(nothing_is_counted_when_it_is_over),
		TEST(a_forked_child_counts_nothing),
		TEST(a_thread_that_has_no_ring_yet_gets_one),
		TEST(everything_in_registers_arrives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
