/*
 * Programs that make it hard to load or to find a library in them:
 *
 *   renamed   its own name leads elsewhere by now, it needs the dynamic loader all the time, and it
 *             imports a function that nobody has, which is looked for in the program itself, too
 *   forks     forks all the time, and each fork takes a second
 */
#include "../../programs/workload.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORK_NS NS_PER_S

void __attribute__((weak)) roctxMarkA(const char *message);

static void renamed_run(const void *unused)
{
	(void)unused;
	workload_ready();
	for (;;) {
		void *library = dlopen("libm.so.6", RTLD_LAZY);

		if (!library)
			workload_fail("dlopen");
		if (!stats) /* never */
			roctxMarkA("");
		dlclose(library);
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

static void before_fork(void)
{
	sleep_ns(FORK_NS);
}

static void *fork_always(void *unused)
{
	(void)unused;
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

static void forks_run(const void *unused)
{
	(void)unused;
	if (pthread_atfork(before_fork, NULL, NULL))
		workload_fail("pthread_atfork");
	thread_start(fork_always, NULL, 0);
	workload_ready();
	workload_idle();
}

const struct workload workloads[] = {
	{ "renamed", renamed_run, NULL },
	{ "forks", forks_run, NULL },
	{ NULL, NULL, NULL },
};
