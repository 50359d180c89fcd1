/*
 * Who called a function, what it called and at which lines, also where it calls itself.
 */
#include "unit.h"

#include "host/model/samples/neighbours.h"

enum { MAIN, MIDDLE, LEAF, FUNCTIONS };

static struct sample_code codes[] = { { .name = "app" } };
static struct sample_function functions[FUNCTIONS] = { { "main", 0, true },
						       { "middle", 0, true },
						       { "leaf", 0, true } };
/* The last frame is leaf, inlined into middle. */
static struct sample_location locations[] = { { MAIN, 1, "a.c" },    { MIDDLE, 10, "a.c" },
					      { MIDDLE, 11, "a.c" }, { LEAF, 20, "b.c" },
					      { LEAF, 21, "b.c" },   { MIDDLE, 12, "a.c" } };
static struct sample_frame frames[] = { { .first_location = 0, .location_count = 1 },
					{ .first_location = 1, .location_count = 1 },
					{ .first_location = 2, .location_count = 1 },
					{ .first_location = 3, .location_count = 1 },
					{ .first_location = 4, .location_count = 2 } };
/* main; main, middle; main, middle, leaf; main, middle, middle; main, middle with leaf inlined */
static struct sample_stack stacks[] = {
	{ STACK_NONE, 0, 1 }, { 0, 1, 2 }, { 1, 3, 3 }, { 1, 2, 3 }, { 0, 4, 2 }
};
static struct profile_entry entries[] = { { .stack = 2, .count = 1, .weight_ns = 100 },
					  { .stack = 3, .count = 1, .weight_ns = 10 },
					  { .stack = 4, .count = 1, .weight_ns = 5 },
					  { .stack = 0, .count = 1, .weight_ns = 1 },
					  { .stack = STACK_NONE, .count = 1, .weight_ns = 1 } };

static struct samples samples = { .codes = codes,
				  .code_count = 1,
				  .functions = functions,
				  .function_count = FUNCTIONS,
				  .locations = locations,
				  .frames = frames,
				  .stacks = stacks };
static const struct profile profile = { .samples = &samples,
					.entries = entries,
					.count = ARRAY_SIZE(entries) };

static void counts_a_recursion_once(void **state)
{
	struct neighbours found;

	(void)state;
	assert_int_equal(neighbours_find(&found, &profile, MIDDLE), 0);
	assert_int_equal(found.total_ns, 115);
	assert_int_equal(found.self_ns, 10);
	assert_int_equal(found.caller_count, 2);
	assert_string_equal(found.callers[0].function->name, "main");
	assert_int_equal(found.callers[0].total_ns, 115);
	assert_string_equal(found.callers[1].function->name, "middle");
	assert_int_equal(found.callers[1].total_ns, 10);
	assert_int_equal(found.callee_count, 2);
	assert_string_equal(found.callees[0].function->name, "leaf");
	assert_int_equal(found.callees[0].total_ns, 105);
	assert_int_equal(found.callees[1].total_ns, 10);
	neighbours_done(&found);
}

static void adds_lines_up(void **state)
{
	struct neighbours found;

	(void)state;
	assert_int_equal(neighbours_find(&found, &profile, MIDDLE), 0);
	assert_int_equal(found.line_count, 3);
	assert_int_equal(found.lines[0].line, 10);
	assert_int_equal(found.lines[0].total_ns, 110);
	assert_int_equal(found.lines[0].self_ns, 0);
	assert_int_equal(found.lines[1].line, 11);
	assert_int_equal(found.lines[1].self_ns, 10);
	assert_int_equal(found.lines[2].line, 12);
	neighbours_done(&found);
}

static void the_outermost_has_no_caller(void **state)
{
	struct neighbours found;

	(void)state;
	assert_int_equal(neighbours_find(&found, &profile, MAIN), 0);
	assert_int_equal(found.caller_count, 0);
	assert_int_equal(found.callee_count, 1);
	assert_int_equal(found.self_ns, 1);
	neighbours_done(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_a_recursion_once),
		cmocka_unit_test(adds_lines_up),
		cmocka_unit_test(the_outermost_has_no_caller),
	};

	return cmocka_run_group_tests_name("neighbours", tests, NULL, NULL);
}
