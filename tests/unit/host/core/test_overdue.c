/*
 * Calls that another process can hold up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <time.h>

#include "host/core/threads/overdue.h"

#define LIMIT_NS 1000000u

static void pass_the_limit(void)
{
	nanosleep(&(struct timespec){ 0, 4 * LIMIT_NS }, NULL);
}

static void tells_a_call_that_goes_on(void **state)
{
	(void)state;
	assert_false(overdue_is(LIMIT_NS));
	overdue_begin();
	assert_false(overdue_is(UINT64_MAX / 2));
	pass_the_limit();
	assert_true(overdue_is(LIMIT_NS));
	overdue_end();
	assert_false(overdue_is(LIMIT_NS));
}

static void *call_once(void *argument)
{
	overdue_begin();
	overdue_end();
	return argument;
}

static void *call_and_stay(void *argument)
{
	overdue_begin();
	pass_the_limit();
	*(bool *)argument = overdue_is(LIMIT_NS);
	overdue_end();
	return argument;
}

static void thread_run(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void watches_whoever_comes_after_many_threads(void **state)
{
	bool was_seen = false;

	(void)state;
	for (unsigned i = 0; i < 600; i++)
		thread_run(call_once, NULL);
	thread_run(call_and_stay, &was_seen);
	assert_true(was_seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_a_call_that_goes_on),
		cmocka_unit_test(watches_whoever_comes_after_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
