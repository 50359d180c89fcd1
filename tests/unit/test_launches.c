/*
 * Which call caused which command: reports that come in any order of queues, and questions that are
 * never answered.
 */
#include "unit.h"

#include "target/domains/launches.h"

#define FAR UINT64_MAX

static int setup(void **state)
{
	(void)state;
	return launches_open();
}

static int teardown(void **state)
{
	(void)state;
	launches_close();
	return 0;
}

static void ask(enum launch_kind kind, uint64_t stream, int32_t thread, uint64_t what,
		uint64_t cause)
{
	struct launch launch = { .cause = cause, .stream = stream, .what = what, .thread = thread };

	assert_true(launches_add(kind, &launch));
}

/* The cause of what was reported; 0: not sure. */
static uint64_t report(enum launch_kind kind, uint64_t queue, uint64_t what)
{
	struct launch_report told = { kind, queue, FAR, what, COPY_UNKNOWN };
	struct launch found = { 0 };

	return launches_take(&told, &found) ? found.cause : 0;
}

static void commands_of_a_stream_come_in_their_order(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 5; i++)
		ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, i);
	for (uint64_t i = 1; i <= 5; i++)
		assert_int_equal(report(LAUNCH_KERNEL, 3, 9), i);
	assert_int_equal(report(LAUNCH_KERNEL, 3, 9), 0);
}

static void copies_tell_streams_apart_by_their_size(void **state)
{
	(void)state;
	ask(LAUNCH_COPY, 0x1000, 7, 100, 1);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 2);
	ask(LAUNCH_COPY, 0x2000, 8, 200, 3);
	ask(LAUNCH_KERNEL, 0x2000, 8, 0x40, 4);
	assert_int_equal(report(LAUNCH_COPY, 5, 200), 3);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 4);
	assert_int_equal(report(LAUNCH_COPY, 6, 100), 1);
	assert_int_equal(report(LAUNCH_KERNEL, 6, 9), 2);
}

static void what_is_not_sure_is_not_named(void **state)
{
	(void)state;
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 1);
	ask(LAUNCH_KERNEL, 0x2000, 8, 0x50, 2);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 0);
	/* It may be that of the first: what is left is not sure either. */
	assert_int_equal(report(LAUNCH_KERNEL, 6, 9), 0);
	/* When they have none left, they begin anew. */
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 3);
	assert_int_equal(report(LAUNCH_KERNEL, 6, 9), 3);
	ask(LAUNCH_KERNEL, 0x2000, 8, 0x50, 4);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 10), 4);
}

static void kernels_are_known_by_their_functions(void **state)
{
	(void)state;
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 1);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1);
	launches_forget_stream(0x1000);
	ask(LAUNCH_KERNEL, 0x2000, 8, 0x50, 2);
	assert_int_equal(report(LAUNCH_KERNEL, 6, 10), 2);
	launches_forget_stream(0x2000);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 3);
	ask(LAUNCH_KERNEL, 0x2000, 8, 0x50, 4);
	assert_int_equal(report(LAUNCH_KERNEL, 6, 10), 4);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 3);
}

static void calls_that_failed_are_taken_back(void **state)
{
	(void)state;
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 1);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 2);
	launches_cancel(2);
	ask(LAUNCH_KERNEL, 0x1000, 7, 0x40, 3);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 3);
}

static void questions_that_nobody_answers_are_passed_over(void **state)
{
	(void)state;
	ask(LAUNCH_COPY, 0x1000, 7, 100, 1);
	assert_int_equal(report(LAUNCH_COPY, 5, 100), 1);
	ask(LAUNCH_COPY, 0x1000, 7, 200, 2); /* lost */
	ask(LAUNCH_COPY, 0x1000, 7, 300, 3);
	assert_int_equal(report(LAUNCH_COPY, 5, 300), 3);
	ask(LAUNCH_COPY, 0x1000, 7, 400, 4);
	assert_int_equal(report(LAUNCH_COPY, 5, 400), 4);
}

static void nothing_is_caused_by_what_came_later(void **state)
{
	struct launch launch = { .cause = 1, .stream = 0x1000, .asked = 100, .thread = 7 };
	struct launch_report told = { LAUNCH_KERNEL, 5, 99, 9, COPY_UNKNOWN };
	struct launch found;

	(void)state;
	assert_true(launches_add(LAUNCH_KERNEL, &launch));
	assert_false(launches_take(&told, &found));
}

static void threads_share_the_default_stream(void **state)
{
	(void)state;
	ask(LAUNCH_KERNEL, 0, 7, 0x40, 1);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 1);
	ask(LAUNCH_KERNEL, 0, 8, 0x40, 2);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 2);
	ask(LAUNCH_KERNEL, 0, 8, 0x40, 3);
	ask(LAUNCH_KERNEL, 0, 7, 0x40, 4);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 3);
	assert_int_equal(report(LAUNCH_KERNEL, 5, 9), 4);
}

/* More than there is room for, none of them ever reported. */
static void a_flood_is_survived(void **state)
{
	struct launch launch = { .cause = 1, .stream = 0x1000 };

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		launch.cause = i + 1;
		assert_true(launches_add(LAUNCH_KERNEL, &launch));
	}
	assert_int_not_equal(report(LAUNCH_KERNEL, 5, 9), 0);
	for (uint64_t stream = 0x10000; stream < 0x10000 + 1000; stream++) {
		launch.stream = stream;
		(void)launches_add(LAUNCH_COPY, &launch);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(commands_of_a_stream_come_in_their_order),
		TEST(copies_tell_streams_apart_by_their_size),
		TEST(what_is_not_sure_is_not_named),
		TEST(kernels_are_known_by_their_functions),
		TEST(calls_that_failed_are_taken_back),
		TEST(questions_that_nobody_answers_are_passed_over),
		TEST(nothing_is_caused_by_what_came_later),
		TEST(threads_share_the_default_stream),
		TEST(a_flood_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
