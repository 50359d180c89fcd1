/*
 * Programs that change themselves all the time: fork, vfork, spawn, exec, threads that come and go,
 * credentials that glibc changes in every thread by a signal of its own, roots and namespaces.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_AT_ONCE 16
#define CHANGE_NS       (20 * NS_PER_MS)

static void child_reap(pid_t child, int expected)
{
	int status;

	if (child < 0) {
		workload_fail("fork");
		return;
	}
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR) {
			workload_fail("waitpid");
			return;
		}
		atomic_fetch_add(&stats->eintr, 1);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != expected)
		workload_corrupt("storms: child ended wrongly");
}

/* The child allocates, so that a heap that was copied in the middle of something shows. */
static void fork_run(const void *data)
{
	pid_t child;

	(void)data;
	workload_ready();
	for (;;) {
		child = fork();
		if (child == 0) {
			free(malloc(5000));
			exit(3);
		}
		child_reap(child, 3);
		workload_turn();
	}
}

static void vfork_run(const void *data)
{
	pid_t child;

	(void)data;
	workload_ready();
	for (;;) {
		child = vfork();
		if (child == 0)
			_exit(3);
		child_reap(child, 3);
		workload_turn();
	}
}

static void spawn_run(const void *data)
{
	char *arguments[] = { (char[]){ "true" }, NULL };
	pid_t child;

	(void)data;
	workload_ready();
	for (;;) {
		errno = posix_spawnp(&child, "true", NULL, NULL, arguments, environ);
		child_reap(errno ? -1 : child, 0);
		workload_turn();
	}
}

/* Lives for 0 to 2 ms in each image. */
static void exec_run(const void *data)
{
	uint64_t turn = atomic_load(&stats->turns);

	(void)data;
	workload_ready();
	workload_turn();
	sleep_ns(turn % 8 * NS_PER_MS / 4);
	execv("/proc/self/exe", workload_argv);
	workload_fail("execv");
}

static void *short_thread(void *argument)
{
	free(malloc(100));
	return argument;
}

static void threads_turn(void)
{
	pthread_t threads[THREADS_AT_ONCE];
	void *result;
	int count = 0;

	for (uintptr_t i = 0; i < THREADS_AT_ONCE; i++) {
		errno = pthread_create(&threads[count], NULL, short_thread, (void *)i);
		if (errno)
			workload_fail("pthread_create");
		else
			count++;
	}
	for (int i = 0; i < count; i++) {
		if (pthread_join(threads[i], &result) != 0 || (uintptr_t)result != (uintptr_t)i)
			workload_corrupt("storms: thread ended wrongly");
	}
}

static void threads_run(const void *data)
{
	(void)data;
	workload_ready();
	for (;;) {
		threads_turn();
		workload_turn();
	}
}

static void *credential_thread(void *argument)
{
	for (;;)
		sleep_ns(NS_PER_S);
	return argument;
}

/* Every call waits until each thread that libc knows has answered its signal 33. */
static void setuid_run(const void *data)
{
	(void)data;
	for (int i = 0; i < 3; i++)
		thread_start(credential_thread, NULL, 0);
	workload_ready();
	for (;;) {
		if (setresuid(getuid(), geteuid(), (uid_t)-1) < 0)
			workload_fail("setresuid");
		if (setresgid(getgid(), getegid(), (gid_t)-1) < 0)
			workload_fail("setresgid");
		sleep_ns(NS_PER_MS / 5);
		workload_turn();
	}
}

/* A root that is this thread's own, and then another one each time. */
static void chroot_run(const void *data)
{
	(void)data;
	thread_start(credential_thread, NULL, 0);
	if (unshare(CLONE_FS) < 0 || chroot("/") < 0)
		workload_skip("chroot");
	workload_ready();
	for (;;) {
		if (chroot(".") < 0)
			workload_fail("chroot");
		sleep_ns(CHANGE_NS);
		workload_turn();
	}
}

/* Another namespace each time, which is then the whole program's. */
static void unshare_run(const void *data)
{
	(void)data;
	if (unshare(CLONE_NEWUTS) < 0)
		workload_skip("unshare");
	workload_ready();
	for (;;) {
		if (unshare(CLONE_NEWUTS) < 0)
			workload_fail("unshare");
		sleep_ns(CHANGE_NS);
		workload_turn();
	}
}

const struct workload workloads[] = {
	{ "chroot", chroot_run, NULL },
	{ "unshare", unshare_run, NULL },
	{ "fork", fork_run, NULL },
	{ "vfork", vfork_run, NULL },
	{ "spawn", spawn_run, NULL },
	{ "exec", exec_run, NULL },
	{ "threads", threads_run, NULL },
	{ "setuid", setuid_run, NULL },
	{ NULL, NULL, NULL },
};
