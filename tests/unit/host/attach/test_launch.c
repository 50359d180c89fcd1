/*
 * A program that was started and is given up: killed, and waited for no longer than it deserves.
 */
#include "unit.h"

#include "host/attach/launch/launch.h"
#include "host/core/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t sleeper_start(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_return_code(pid, errno);
	return pid;
}

/* Seizes it and never looks at it again: nobody else hears of its end then. */
static pid_t tracer_start(pid_t target)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_return_code(pipe(ready), errno);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		byte = ptrace(PTRACE_SEIZE, target, 0, PTRACE_O_TRACEEXIT) ? 'n' : 'y';
		(void)!write(ready[1], &byte, 1);
		for (;;)
			pause();
	}
	assert_return_code(pid, errno);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (byte == 'y')
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

static void one_that_is_not_let_go_is_killed(void **state)
{
	struct launch launch = { .pid = sleeper_start(), .pidfd = -1, .memory = -1 };

	(void)state;
	launch_done(&launch);
	assert_true(launch.has_ended);
	assert_int_equal(WTERMSIG(launch.status), SIGKILL);
}

static void one_that_cannot_end_is_left(void **state)
{
	struct launch launch = { .pid = sleeper_start(), .pidfd = -1, .memory = -1 };
	pid_t tracer = tracer_start(launch.pid);

	(void)state;
	if (!tracer) {
		launch_done(&launch);
		skip();
	}
	alarm(60); /* waiting for ever is what must not be */
	launch_done(&launch);
	alarm(0);
	assert_false(launch.has_ended);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	assert_int_equal(waitpid(launch.pid, NULL, 0), launch.pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_not_let_go_is_killed),
		cmocka_unit_test(one_that_cannot_end_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
