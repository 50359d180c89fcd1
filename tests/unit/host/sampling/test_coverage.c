/*
 * Threads with several perf events: which of them counts.
 */
#include "unit.h"

#include "host/sampling/copy/coverage.h"

enum { PARENT = 100, CHILD = 101, LATER = 102 };

/* One was opened for the parent, one for the child, which had inherited the first. */
static struct perf_event opened[] = { { .tid = PARENT, .id = 1 }, { .tid = CHILD, .id = 2 } };
static const struct perf_events events = { .items = opened, .count = ARRAY_SIZE(opened) };

static void each_thread_has_one(void **state)
{
	struct coverage coverage = { .has_doubt = true };

	(void)state;
	assert_true(coverage_counts(&coverage, &events, CHILD, 2));
	assert_false(coverage_counts(&coverage, &events, CHILD, 1));
	assert_true(coverage_counts(&coverage, &events, CHILD, 2));
	assert_true(coverage_counts(&coverage, &events, PARENT, 1));
	coverage_done(&coverage);
}

/* It was never opened for, and has inherited both. */
static void so_has_one_that_is_born_of_it(void **state)
{
	struct coverage coverage = { .has_doubt = true };

	(void)state;
	assert_true(coverage_counts(&coverage, &events, LATER, 1));
	assert_false(coverage_counts(&coverage, &events, LATER, 2));
	assert_true(coverage_counts(&coverage, &events, LATER, 1));
	coverage_done(&coverage);
}

static void a_number_that_is_used_again(void **state)
{
	struct coverage coverage = { .has_doubt = true };

	(void)state;
	assert_true(coverage_counts(&coverage, &events, LATER, 1));
	assert_true(coverage_counts(&coverage, &events, CHILD, 1));
	coverage_forget(&coverage, LATER);
	coverage_forget(&coverage, LATER);
	assert_true(coverage_counts(&coverage, &events, LATER, 2));
	assert_false(coverage_counts(&coverage, &events, CHILD, 2));
	coverage_done(&coverage);
}

/* Of events that are closed meanwhile nothing is known. */
static void an_event_that_is_gone(void **state)
{
	struct coverage coverage = { .has_doubt = true };

	(void)state;
	assert_true(coverage_counts(&coverage, &events, LATER, 3));
	assert_true(coverage_counts(&coverage, &events, LATER, 2));
	assert_false(coverage_counts(&coverage, &events, LATER, 3));
	coverage_done(&coverage);
}

static void without_doubt_all_count(void **state)
{
	struct coverage coverage = { 0 };

	(void)state;
	for (uint64_t id = 1; id < 4; id++)
		assert_true(coverage_counts(&coverage, &events, LATER, id));
	assert_int_equal(coverage.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_has_one),
		cmocka_unit_test(so_has_one_that_is_born_of_it),
		cmocka_unit_test(a_number_that_is_used_again),
		cmocka_unit_test(an_event_that_is_gone),
		cmocka_unit_test(without_doubt_all_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
