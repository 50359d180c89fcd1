/* How threads spent their time between looks at them. */
#include "host/sampling/proc/thread_times.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void two_times_are_read(void **state)
{
	const char *text = "123456789 42 7\n", *wrong = "123456789 -\n";
	struct schedstat read;

	(void)state;
	assert_int_equal(schedstat_parse(text, strlen(text), &read), 0);
	assert_int_equal(read.run_ns, 123456789);
	assert_int_equal(read.wait_ns, 42);
	assert_int_equal(schedstat_parse(wrong, strlen(wrong), &read), -EBADMSG);
	assert_int_equal(schedstat_parse("", 0, &read), -EBADMSG);
}

static void who_sleeps_has_slept_the_rest(void **state)
{
	struct thread_time time = { .seen_ns = 1000 };

	(void)state;
	thread_time_poll(&time, &(struct schedstat){ 30, 20 }, 1100, 'S');
	assert_int_equal(time.owed_ns[SAMPLE_RUNNING], 30);
	assert_int_equal(time.owed_ns[SAMPLE_RUNNABLE], 20);
	assert_int_equal(time.owed_ns[SAMPLE_BLOCKED], 50);
}

/* It waits for a processor, which is counted when it has got one. */
static void who_is_runnable_has_not_slept(void **state)
{
	struct thread_time time = { .seen_ns = 1000 };

	(void)state;
	thread_time_poll(&time, &(struct schedstat){ 10, 0 }, 1100, 'R');
	assert_int_equal(time.owed_ns[SAMPLE_BLOCKED], 0);
	thread_time_poll(&time, &(struct schedstat){ 20, 95 }, 1200, 'S');
	assert_int_equal(time.owed_ns[SAMPLE_RUNNING], 20);
	assert_int_equal(time.owed_ns[SAMPLE_RUNNABLE], 95);
	assert_int_equal(time.owed_ns[SAMPLE_BLOCKED], 85);
}

static void nothing_stays_unexplained_at_the_end(void **state)
{
	struct thread_time time = { .seen_ns = 1000 };

	(void)state;
	thread_time_poll(&time, &(struct schedstat){ 10, 0 }, 1100, 'R');
	thread_time_end(&time);
	assert_int_equal(time.owed_ns[SAMPLE_RUNNABLE], 90);
}

static void count(void *context, struct thread_time *time)
{
	(void)time;
	++*(unsigned *)context;
}

static void who_was_not_seen_leaves(void **state)
{
	struct thread_times times = { 0 };
	unsigned gone = 0;

	(void)state;
	for (pid_t tid = 9; tid; tid--)
		assert_non_null(thread_times_add(
			&times, &(struct thread_time){ .tid = tid, .seen_ns = (uint64_t)tid }));
	assert_int_equal(thread_times_find(&times, 3)->tid, 3);
	thread_times_sweep(&times, 4, count, &gone);
	assert_int_equal(gone, 3);
	assert_null(thread_times_find(&times, 3));
	assert_int_equal(thread_times_find(&times, 4)->tid, 4);
	thread_times_done(&times);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_times_are_read),
		cmocka_unit_test(who_sleeps_has_slept_the_rest),
		cmocka_unit_test(who_is_runnable_has_not_slept),
		cmocka_unit_test(nothing_stays_unexplained_at_the_end),
		cmocka_unit_test(who_was_not_seen_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
