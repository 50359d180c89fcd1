/*
 * Looking at real processes: ourselves, a child, a zombie, one that is not there.
 */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/process/inspect/attachable.h"
#include "host/process/threads.h"

/* A child that waits until it is killed. */
static pid_t start_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void sees_all_of_a_child(void **state)
{
	CLEANUP(process_done) struct process process = { 0 };
	pid_t child = start_child();
	struct err err;

	(void)state;
	assert_int_equal(process_read(child, &process, &err), 0);
	assert_int_equal(process.program, PROGRAM_OURS);
	assert_int_equal(process.status.parent, getpid());
	assert_int_equal(process.namespaces.pid, SAME_YES);
	assert_true(process.maps.count > 0);
	assert_true(process.libc.major > 0);
	assert_true(process.identity.has_random);
	assert_false(process.has_ended || process.is_private || process.shares_memory_with_parent);
	assert_non_null(strstr(process.executable, "test_process"));
	assert_int_equal(process_judge(&process, &err), 0);
	end_child(child);
}

static void sees_a_zombie(void **state)
{
	CLEANUP(process_done) struct process process = { 0 };
	pid_t child = start_child();
	siginfo_t info;
	struct err err;

	(void)state;
	kill(child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_read(child, &process, &err), 0);
	assert_true(process.has_ended);
	assert_int_equal(process_judge(&process, &err), -ESRCH);
	waitpid(child, NULL, 0);
}

static void says_that_there_is_no_such_process(void **state)
{
	struct process process;
	struct err err;

	(void)state;
	assert_int_equal(process_read(INT32_MAX, &process, &err), -ESRCH);
	assert_int_equal(err.exit, EXIT_NO_PROCESS);
	assert_string_equal(err.what, "there is no process 2147483647");
}

static void *wait_for_end(void *barrier)
{
	pthread_setname_np(pthread_self(), "second");
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

static void lists_threads_with_names(void **state)
{
	CLEANUP(threads_done) struct threads threads = { 0 };
	pthread_barrier_t barrier;
	pthread_t thread;
	struct err err;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &barrier), 0);
	pthread_barrier_wait(&barrier);
	assert_int_equal(threads_read(getpid(), &threads, &err), 0);
	assert_int_equal(threads.count, 2);
	assert_int_equal(threads.items[0].tid, getpid());
	assert_string_equal(threads.items[1].name, "second");
	assert_string_equal(thread_state_name(threads.items[0].state), "running");
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&barrier);
	assert_string_equal(thread_state_name('?'), "unknown");
}

static void remember_ourselves(const struct process *process, void *context)
{
	if (process->pid == getpid())
		*(int *)context += 1;
}

static void visits_every_process_once(void **state)
{
	CLEANUP(viewer_done) struct viewer viewer;
	struct err err;
	int seen = 0;

	(void)state;
	viewer_init(&viewer);
	assert_int_equal(process_each(&viewer, remember_ourselves, &seen, &err), 0);
	assert_int_equal(seen, 1);
}

static void names_users_from_a_text(void **state)
{
	char text[] = "root:x:0:0::/:/bin/sh\nbroken\nalice:x:1000:1000::/:/bin/sh\n", name[16];
	struct users users = { text, strlen(text) }, none = { 0 };

	(void)state;
	users_name(&users, 0, name, sizeof(name));
	assert_string_equal(name, "root");
	users_name(&users, 1000, name, sizeof(name));
	assert_string_equal(name, "alice");
	users_name(&users, 100, name, sizeof(name));
	assert_string_equal(name, "100");
	users_name(&none, 0, name, sizeof(name));
	assert_string_equal(name, "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sees_all_of_a_child),
		cmocka_unit_test(sees_a_zombie),
		cmocka_unit_test(says_that_there_is_no_such_process),
		cmocka_unit_test(lists_threads_with_names),
		cmocka_unit_test(visits_every_process_once),
		cmocka_unit_test(names_users_from_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
