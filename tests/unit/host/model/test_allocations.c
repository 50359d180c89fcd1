/*
 * Memory through a recording: what is out at the end, whoever gave it back and in whatever order
 * the calls overlap.
 */
#include "unit.h"

#include <string.h>

#include "host/model/calls/allocations.h"
#include "host/model/samples/samples.h"

static struct trace_function functions[] = {
	{ "malloc", "", DOMAIN_ALLOC, 2, { VALUE_SIZE, VALUE_ADDRESS } },
	{ "free", "", DOMAIN_ALLOC, 1, { VALUE_OLD_ADDRESS } },
	{ "realloc", "", DOMAIN_ALLOC, 3, { VALUE_OLD_ADDRESS, VALUE_SIZE, VALUE_ADDRESS } },
	{ "read", "", DOMAIN_IO, 0, { 0 } },
};

enum { MALLOC, FREE, REALLOC, READ };

static struct model model = { .thread_count = 2 };
static struct model_process process;
static struct model_thread threads[2] = { { .number = 0 }, { .number = 1 } };
static struct allocations allocations;

static int setup(void **state)
{
	(void)state;
	return allocations_init(&allocations, &model);
}

static int teardown(void **state)
{
	(void)state;
	allocations_done(&allocations);
	return 0;
}

static void take(unsigned thread, unsigned function, uint64_t begin, uint64_t end,
		 const uint64_t *values, const uint32_t *stack)
{
	struct call call = { .process = &process,
			     .thread = &threads[thread],
			     .function = &functions[function],
			     .function_number = function,
			     .begin_ns = begin,
			     .end_ns = end,
			     .value_count = functions[function].value_count,
			     .values = values,
			     .has_stack = stack,
			     .stack = stack ? *stack : STACK_NONE,
			     .text = "" };

	assert_int_equal(allocations_add(&allocations, &call), 0);
}

#define VALUES(...) ((const uint64_t[]){ __VA_ARGS__ })

static void expect(uint32_t sites, uint64_t bytes, uint64_t live_blocks, uint64_t live_bytes)
{
	assert_int_equal(allocations_finish(&allocations), 0);
	assert_int_equal(allocations.site_count, sites);
	assert_int_equal(allocations.sites[0].bytes, bytes);
	assert_int_equal(allocations.sites[0].live_blocks, live_blocks);
	assert_int_equal(allocations.sites[0].live_bytes, live_bytes);
}

static void what_is_given_back_is_not_out(void **state)
{
	(void)state;
	take(0, MALLOC, 10, 20, VALUES(100, 0x1000), NULL);
	take(0, MALLOC, 30, 40, VALUES(50, 0x2000), NULL);
	take(0, READ, 41, 42, NULL, NULL);
	take(1, FREE, 50, 60, VALUES(0x1000), NULL);
	take(1, FREE, 70, 80, VALUES(0x9000), NULL);
	take(1, FREE, 90, 91, VALUES(0), NULL);
	expect(1, 150, 1, 50);
	assert_int_equal(allocations.strangers, 1);
}

/* malloc begins before the free of the block that it gets. */
static void a_block_that_changes_hands_is_not_lost(void **state)
{
	(void)state;
	take(0, MALLOC, 10, 20, VALUES(100, 0x1000), NULL);
	take(1, MALLOC, 25, 60, VALUES(70, 0x1000), NULL);
	take(0, FREE, 30, 40, VALUES(0x1000), NULL);
	expect(1, 170, 1, 70);
	assert_int_equal(allocations.strangers, 0);
}

static void within_one_tick_order_is_kept(void **state)
{
	(void)state;
	take(0, MALLOC, 10, 10, VALUES(100, 0x1000), NULL);
	take(0, FREE, 10, 10, VALUES(0x1000), NULL);
	take(0, MALLOC, 10, 10, VALUES(100, 0x1000), NULL);
	expect(1, 200, 1, 100);
}

static void a_reallocation_moves_a_block(void **state)
{
	(void)state;
	take(0, MALLOC, 10, 20, VALUES(100, 0x1000), NULL);
	take(0, REALLOC, 30, 40, VALUES(0x1000, 300, 0x2000), NULL);
	take(0, REALLOC, 50, 60, VALUES(0x2000, 1ull << 60, 0), NULL); /* failed */
	expect(2, 300, 1, 300);
	assert_string_equal(allocations.sites[0].function->name, "realloc");
	assert_int_equal(allocations.sites[1].live_blocks, 0);
}

static void reallocating_to_nothing_frees(void **state)
{
	(void)state;
	take(0, MALLOC, 10, 20, VALUES(100, 0x1000), NULL);
	take(0, REALLOC, 30, 40, VALUES(0x1000, 0, 0), NULL);
	expect(1, 100, 0, 0);
}

static void a_call_inside_another_counts_once(void **state)
{
	(void)state;
	take(0, MALLOC, 10, 30, VALUES(100, 0x1000), NULL); /* as operator new */
	take(0, MALLOC, 15, 30, VALUES(100, 0x1000), NULL);
	take(1, MALLOC, 16, 20, VALUES(11, 0x2000), NULL);
	expect(1, 111, 2, 111);
	assert_int_equal(allocations.sites[0].calls, 2);
}

static void what_failed_is_nothing(void **state)
{
	(void)state;
	take(0, MALLOC, 10, 20, VALUES(100, 0), NULL);
	take(0, MALLOC, 30, 40, VALUES(100, UINT64_MAX), NULL);
	assert_int_equal(allocations_finish(&allocations), 0);
	assert_int_equal(allocations.site_count, 0);
}

static void stacks_are_sites(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		uint32_t stack = (uint32_t)(i % 10);

		take(0, MALLOC, i * 10, i * 10 + 5, VALUES(i % 10 + 1, 0x1000 + i * 16), &stack);
	}
	expect(10, 1000, 100, 1000);
}

static void all_that_is_given_back_is_forgotten(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		take(0, MALLOC, i * 10, i * 10 + 5, VALUES(i % 10 + 1, 0x1000 + i * 16), NULL);
	for (uint64_t i = 0; i < 1000; i++)
		take(0, FREE, 20000 + i * 10, 20001 + i * 10, VALUES(0x1000 + i * 7 % 1000 * 16),
		     NULL);
	expect(1, 5500, 0, 0);
	assert_int_equal(allocations.blocks.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_given_back_is_not_out),
		TEST(a_block_that_changes_hands_is_not_lost),
		TEST(within_one_tick_order_is_kept),
		TEST(a_reallocation_moves_a_block),
		TEST(reallocating_to_nothing_frees),
		TEST(a_call_inside_another_counts_once),
		TEST(what_failed_is_nothing),
		TEST(stacks_are_sites),
		TEST(all_that_is_given_back_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
