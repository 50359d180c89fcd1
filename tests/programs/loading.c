/*
 * Opens and closes a library all the time, while other threads allocate, lock and open files.  A
 * turn is over when each thread has gone on: who waits for a lock of the loader's for ever ends
 * them all.  With OPERATORS the memory comes from the C++ library; a program with devices_use()
 * calls that, too.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TAKERS    3
#define OPENERS   2
#define USERS     2
#define THREADS   (OPENERS + TAKERS + USERS)
#define PERIOD_NS 200000ULL
#define BLOCKS    64

#ifdef OPERATORS
void *_Znwm(size_t size);
void _ZdlPv(void *memory);
#define TAKE _Znwm
#define GIVE _ZdlPv
#else
#define TAKE malloc
#define GIVE free
#endif

/* Calls runtimes of devices once, and checks what they answer; the first call begins them. */
__attribute__((weak)) void devices_use(unsigned thread);

static _Atomic uint64_t counts[THREADS];
static unsigned thread_count = OPENERS + TAKERS;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char path[PATH_MAX];
static uint64_t pause_ns; /* between two openings */

static void path_find(void)
{
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (size < 0)
		workload_skip("readlink");
	while (size && path[size - 1] != '/')
		size--;
	snprintf(path + size, sizeof(path) - (size_t)size, "../programs/plugin_0.so");
}

static void *take_all(void *argument)
{
	_Atomic uint64_t *count = argument;
	void *volatile blocks[BLOCKS];

	for (;;) {
		for (unsigned i = 0; i < BLOCKS; i++)
			blocks[i] = TAKE(64 + i);
		for (unsigned i = 0; i < BLOCKS; i++)
			GIVE(blocks[i]);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		close(open("/dev/null", O_RDONLY | O_CLOEXEC));
		atomic_fetch_add(count, 1);
		sleep_ns(PERIOD_NS);
	}
	return NULL;
}

static void *open_all(void *argument)
{
	_Atomic uint64_t *count = argument;

	for (;;) {
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

		if (!library)
			workload_fail("dlopen");
		else
			dlclose(library);
		atomic_fetch_add(count, 1);
		if (pause_ns)
			sleep_ns(pause_ns);
	}
	return NULL;
}

static void *use_all(void *argument)
{
	_Atomic uint64_t *count = argument;

	for (;;) {
		devices_use((unsigned)(count - counts));
		atomic_fetch_add(count, 1);
		sleep_ns(NS_PER_MS);
	}
	return NULL;
}

static bool have_all_gone_on(uint64_t seen[THREADS])
{
	for (unsigned i = 0; i < thread_count; i++)
		if (atomic_load(&counts[i]) == seen[i])
			return false;
	for (unsigned i = 0; i < thread_count; i++)
		seen[i] = atomic_load(&counts[i]);
	return true;
}

static void loading_run(const void *data)
{
	uint64_t seen[THREADS] = { 0 };

	pause_ns = *(const uint64_t *)data;
	path_find();
	if (devices_use) {
		devices_use(0);
		thread_count = THREADS;
	}
	for (unsigned i = 0; i < thread_count; i++)
		thread_start(i < OPENERS            ? open_all
			     : i < OPENERS + TAKERS ? take_all
						    : use_all,
			     &counts[i], 0);
	workload_ready();
	for (;;) {
		if (have_all_gone_on(seen))
			workload_turn();
		sleep_ns(NS_PER_MS);
	}
}

static const uint64_t often = PERIOD_NS, always = 0;

const struct workload workloads[] = {
	{ "often", loading_run, &often },
	{ "always", loading_run, &always },
	{ NULL, NULL, NULL },
};
