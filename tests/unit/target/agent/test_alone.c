/*
 * Who is left of a program, asked in children: one whose first thread lives, and one whose first
 * thread has ended.
 */
#include "unit.h"

#include "target/agent/alone.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAUSE_US 1000

static bool says_first_ended(void)
{
	for (unsigned i = 0; i < PATIENCE_MS && first_status() < 0; i++)
		usleep(PAUSE_US);
	return first_status() == 0;
}

static unsigned others;

static void *wait_for_end(void *unused)
{
	pause();
	return unused;
}

/* All that there are are asked for, and one more or less. */
static void *outlive(void *unused)
{
	pthread_t thread;

	(void)unused;
	for (unsigned i = 0; i < others; i++)
		if (pthread_create(&thread, NULL, wait_for_end, NULL))
			_exit(1);
	_exit(says_first_ended() && is_alone(others) && !is_alone(others + 1) &&
			      (!others || !is_alone(others - 1))
		      ? 0
		      : 1);
}

/* Whatever is said of our own threads, one of which may just have ended. */
static void stay(void)
{
	_exit(is_alone(0) || is_alone(1) ? 1 : 0);
}

static void leave_first(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, outlive, NULL))
		_exit(1);
	syscall(SYS_exit, 0);
}

static int status_of_child(void (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		run();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void test_a_first_thread_that_lives(void **state)
{
	(void)state;
	assert_int_equal(status_of_child(stay), 0);
}

static void test_a_first_thread_that_has_ended(void **state)
{
	static const unsigned counts[] = { 0, 1, 8, 9, 10, 98 };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		others = counts[i];
		assert_int_equal(status_of_child(leave_first), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_first_thread_that_lives),
		cmocka_unit_test(test_a_first_thread_that_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
