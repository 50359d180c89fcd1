/*
 * Ranges from calls: paired, cut, and told apart when calls are missing.
 */
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "host/model/read/ranges.h"

static struct trace_function functions[] = {
	{ "roctxRangePushA", "", DOMAIN_MARKER, 1, { VALUE_RESULT } },
	{ "roctxRangePop", "", DOMAIN_MARKER, 1, { VALUE_RESULT } },
	{ "roctxRangeStartA", "", DOMAIN_MARKER, 1, { VALUE_ID } },
	{ "roctxRangeStop", "", DOMAIN_MARKER, 1, { VALUE_ID } },
	{ "nvtxDomainRangePushEx", "", DOMAIN_MARKER, 2, { VALUE_RESULT, VALUE_OBJECT } },
	{ "nvtxDomainRangePop", "", DOMAIN_MARKER, 2, { VALUE_RESULT, VALUE_OBJECT } },
	{ "nvtxRangePop", "", DOMAIN_MARKER, 1, { VALUE_RESULT } },
};

enum { PUSH, POP, START, STOP, DOMAIN_PUSH, DOMAIN_POP, NVTX_POP };

#define UNKNOWN ((uint64_t)-2)

static struct model model = {
	.thread_count = 2, .has_clock = true, .first = { .boot_ns = 5 }, .last = { .boot_ns = 1000 }
};
static struct model_process process;
static struct model_thread threads[2] = { { .number = 0, .process = &process },
					  { .number = 1, .process = &process } };
static struct ranges ranges;

static int setup(void **state)
{
	(void)state;
	memset(&ranges, 0, sizeof(ranges));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ranges_done(&ranges);
	return 0;
}

/* Each call takes one unit of time. */
static void call_of(unsigned thread, unsigned function, uint64_t begin, uint64_t value,
		    uint64_t object)
{
	uint64_t values[2] = { value, object };
	struct call call = { .process = &process,
			     .thread = &threads[thread],
			     .function = &functions[function],
			     .function_number = function,
			     .begin_ns = begin,
			     .end_ns = begin + 1,
			     .value_count = functions[function].value_count,
			     .values = values,
			     .text = "" };

	assert_int_equal(ranges_take(&ranges, &call), 0);
}

static void take(unsigned thread, unsigned function, uint64_t begin, uint64_t value)
{
	call_of(thread, function, begin, value, 0);
}

static void expect(size_t number, uint64_t end_ns, enum range_cut cut)
{
	struct call call = { .begin_ns = 0 };

	ranges_close(&ranges, number, &call);
	assert_int_equal(call.end_ns, end_ns);
	assert_int_equal(call.cut, cut);
}

static void push_and_pop_nest_within_a_thread(void **state)
{
	(void)state;
	take(0, PUSH, 10, 0);
	take(1, PUSH, 11, 0);
	take(0, PUSH, 12, 1);
	take(0, POP, 20, 1);
	take(1, POP, 30, 0);
	take(0, POP, 40, 0);
	ranges_finish(&ranges, &model);
	expect(0, 41, RANGE_WHOLE);
	expect(1, 31, RANGE_WHOLE);
	expect(2, 21, RANGE_WHOLE);
	assert_int_equal(ranges.headless_count, 0);
}

static void start_and_stop_go_across_threads(void **state)
{
	(void)state;
	take(0, START, 10, 7);
	take(0, START, 11, 8);
	take(1, STOP, 20, 7);
	take(1, STOP, 30, 99);
	ranges_finish(&ranges, &model);
	expect(0, 21, RANGE_WHOLE);
	expect(1, 1000, RANGE_ENDLESS);
	assert_int_equal(ranges.headless_count, 1);
	assert_int_equal(ranges.headless[0].end_ns, 31);
	assert_int_equal(ranges.headless[0].value, 99);
	assert_int_equal(ranges.first_ns, 5);
}

static void what_was_open_before_is_closed_from_the_inside(void **state)
{
	(void)state;
	take(0, POP, 10, 3);
	take(0, PUSH, 20, 3);
	take(0, POP, 30, 3);
	take(0, POP, 40, 2);
	ranges_finish(&ranges, &model);
	expect(0, 31, RANGE_WHOLE);
	assert_int_equal(ranges.headless_count, 2);
	assert_int_equal(ranges.headless[0].end_ns, 41); /* the outer one is the longer */
	assert_int_equal(ranges.headless[1].end_ns, 11);
}

static void levels_help_where_calls_are_missing(void **state)
{
	(void)state;
	take(0, PUSH, 10, 0);
	take(0, PUSH, 20, 1); /* its pop is missing */
	take(0, POP, 30, 0);
	take(0, POP, 40, 0); /* its push is missing */
	ranges_finish(&ranges, &model);
	expect(0, 31, RANGE_WHOLE);
	expect(1, 30, RANGE_ENDLESS); /* over by then */
	assert_int_equal(ranges.headless_count, 0);
	assert_int_equal(ranges.closings[0], CLOSING_PAIRED);
	assert_int_equal(ranges.closings[1], CLOSING_ALONE);
}

static void a_pop_of_nothing_is_no_range(void **state)
{
	(void)state;
	take(0, PUSH, 10, 0);
	take(0, POP, 20, 0);
	take(0, POP, 30, (uint64_t)-1);
	ranges_finish(&ranges, &model);
	expect(0, 21, RANGE_WHOLE);
	assert_int_equal(ranges.closings[1], CLOSING_FAILED);
	assert_int_equal(ranges.headless_count, 0);
}

/* NVTX without a tool knows no levels; what is pushed in a domain is popped there. */
static void domains_do_not_mix(void **state)
{
	(void)state;
	call_of(0, DOMAIN_PUSH, 10, UNKNOWN, 0xa);
	call_of(0, DOMAIN_PUSH, 11, UNKNOWN, 0xb);
	call_of(0, DOMAIN_PUSH, 12, UNKNOWN, 0xa);
	take(0, PUSH, 13, 0);
	call_of(0, DOMAIN_POP, 20, UNKNOWN, 0xa);
	call_of(0, DOMAIN_POP, 21, UNKNOWN, 0xa);
	take(0, NVTX_POP, 22, UNKNOWN);
	ranges_finish(&ranges, &model);
	expect(0, 22, RANGE_WHOLE);
	expect(1, 1000, RANGE_ENDLESS);
	expect(2, 21, RANGE_WHOLE);
	expect(3, 1000, RANGE_ENDLESS);
	assert_int_equal(ranges.headless_count, 1);
}

static bool is_near(double value, double wanted)
{
	return value > wanted * (1 - 1e-9) && value < wanted * (1 + 1e-9);
}

/* Against 1 - exp(-x), as a table of it says. */
static void samples_stand_for_what_was_not_written(void **state)
{
	(void)state;
	assert_true(is_near(sample_blocks(5, 0), 1) && is_near(sample_blocks(0, 100), 1));
	assert_true(is_near(sample_blocks(1000, 1000), 1 / 0.6321205588285577));
	assert_true(is_near(sample_blocks(500, 1000), 1 / 0.3934693402873666));
	assert_true(is_near(sample_blocks(10, 1000), 1 / 0.009950166250831947));
	assert_true(is_near(sample_blocks(1, 524288), 524288.5));
	assert_true(is_near(sample_blocks(UINT64_MAX, 1), 1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(push_and_pop_nest_within_a_thread),
		TEST(start_and_stop_go_across_threads),
		TEST(what_was_open_before_is_closed_from_the_inside),
		TEST(levels_help_where_calls_are_missing),
		TEST(a_pop_of_nothing_is_no_range),
		TEST(domains_do_not_mix),
		cmocka_unit_test(samples_stand_for_what_was_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
