/*
 * Calls functions of every shape from several threads under a rain of signals, whose handler calls
 * them too, and compares each result with what it was before anybody came.  A family of workloads:
 * one for each way in which a module can be linked.
 */
#define _GNU_SOURCE
#include "../programs/workload.h"
#include "rounds.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SEEDS   64
#define THREADS 3

static uint64_t expected[SEEDS];
static uint64_t (*round_function)(uint64_t);
static pthread_t threads[THREADS];

static void check(uint64_t seed)
{
	if (round_function(seed) != expected[seed])
		workload_corrupt("a result differs");
}

static void on_signal(int number)
{
	static _Atomic uint64_t seed;
	int saved = errno;

	(void)number;
	check(seed++ % SEEDS);
	errno = saved;
	stats->signals_received++;
}

static void *work(void *argument)
{
	for (uint64_t i = (uint64_t)argument;; i++)
		check(i % SEEDS);
	return NULL;
}

static void load(const char *name)
{
	char path[PATH_MAX] = "";
	void *handle;

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		workload_skip("readlink");
	snprintf(strrchr(path, '/') + 1, NAME_MAX, "rounds_%s.so", name);
	handle = dlopen(path, RTLD_LAZY);
	round_function = handle ? (uint64_t(*)(uint64_t))dlsym(handle, "round_of") : NULL;
	if (!round_function)
		workload_skip(dlerror());
}

/* With nothing bound before the first traced call, where the module is linked so: the expected
 * results come from a copy that is bound at once. */
static void run(const void *name)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	load("now");
	for (uint64_t i = 0; i < SEEDS; i++)
		expected[i] = round_function(i);
	load(name);
	sigaction(SIGUSR1, &action, NULL);
	for (uint64_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			workload_skip("pthread_create");
	workload_ready();
	for (;;) {
		sleep_ns(NS_PER_MS);
		for (unsigned i = 0; i < THREADS; i++)
			pthread_kill(threads[i], SIGUSR1);
		stats->signals_sent += THREADS;
		workload_turn();
	}
}

const struct workload workloads[] = {
	{ "lazy", run, "lazy" },       { "now", run, "now" }, { "noplt", run, "noplt" },
	{ "norelro", run, "norelro" }, { NULL, NULL, NULL },
};
