/*
 * Ordinary programs: asleep, busy, allocating, loading libraries, with many threads, changing their
 * environment and their files.  Each checks its own results every turn.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define BLOCKS       64
#define SMALL_STACK  (64 * 1024)
#define PLUGIN_COUNT 8

static void idle_run(const void *data)
{
	(void)data;
	workload_ready();
	workload_idle();
}

static volatile sig_atomic_t is_asked;

static void on_ask(int signal_number)
{
	(void)signal_number;
	is_asked = 1;
}

/* Ends by exit() when SIGUSR1 asks. */
static void exits_run(const void *data)
{
	struct sigaction action = { .sa_handler = on_ask, .sa_flags = SA_RESTART };

	(void)data;
	sigaction(SIGUSR1, &action, NULL);
	workload_ready();
	while (!is_asked) {
		usleep(1000);
		workload_turn();
	}
	exit(0);
}

/* The same sum each turn: a lost or changed register shows as a wrong one. */
static uint64_t busy_sum(void)
{
	volatile uint64_t seed = 88172645463325252ULL; /* else it is computed once */
	uint64_t state = seed, sum = 0;

	for (int i = 0; i < 20000; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		sum += state;
	}
	return sum;
}

static void busy_run(const void *data)
{
	uint64_t expected = busy_sum();

	(void)data;
	workload_ready();
	for (;;) {
		if (busy_sum() != expected)
			workload_corrupt("busy: wrong sum");
		workload_turn();
	}
}

struct heap {
	unsigned char *blocks[BLOCKS];
	size_t sizes[BLOCKS];
	unsigned int seed;
};

/* Replaces one block, after looking whether its two ends still hold what was written. */
static void heap_turn(struct heap *heap)
{
	unsigned int slot = (unsigned int)rand_r(&heap->seed) % BLOCKS;
	size_t size = 16 + (size_t)rand_r(&heap->seed) % 3000;
	unsigned char *block = heap->blocks[slot];

	if (block && (block[0] != slot || block[heap->sizes[slot] - 1] != slot))
		workload_corrupt("heap: block changed");
	free(block);
	block = malloc(size);
	if (!block) {
		workload_fail("malloc");
		heap->blocks[slot] = NULL;
		return;
	}
	memset(block, (int)slot, size);
	heap->blocks[slot] = block;
	heap->sizes[slot] = size;
}

static void *heap_thread(void *argument)
{
	struct heap heap = { .seed = (unsigned int)(uintptr_t)argument };

	for (;;)
		heap_turn(&heap);
	return NULL;
}

static void *nothing_thread(void *argument)
{
	return argument;
}

static _Noreturn void heap_loop(void)
{
	struct heap heap = { .seed = 1 };

	workload_ready();
	for (;;) {
		for (int i = 0; i < 1000; i++)
			heap_turn(&heap);
		workload_turn();
	}
}

/* Never had a second thread: libc takes no locks at all, and a race is silent heap corruption. */
static void malloc_fresh_run(const void *data)
{
	(void)data;
	heap_loop();
}

/* A thread that was joined is still seen for a moment. */
static void await_alone(void)
{
	struct stat folder;

	while (stat("/proc/self/task", &folder) == 0 && folder.st_nlink > 3)
		sleep_ns(NS_PER_MS);
}

/* One allocating thread in a process that knows of threads: libc takes its locks. */
static void malloc_one_run(const void *data)
{
	pthread_t thread;

	(void)data;
	if (pthread_create(&thread, NULL, nothing_thread, NULL) == 0)
		pthread_join(thread, NULL);
	await_alone();
	heap_loop();
}

static void malloc_threads_run(const void *data)
{
	int count = *(const int *)data;

	for (int i = 1; i < count; i++)
		thread_start(heap_thread, (void *)(uintptr_t)(i + 1), SMALL_STACK);
	heap_loop();
}

static void *asleep_thread(void *argument)
{
	for (;;)
		sleep_ns(3600 * NS_PER_S);
	return argument;
}

static void threads_run(const void *data)
{
	int count = *(const int *)data;

	for (int i = 1; i < count; i++)
		thread_start(asleep_thread, NULL, SMALL_STACK);
	workload_ready();
	workload_idle();
}

/* The leader is a zombie: only the second thread can be stopped. */
static void *survivor_thread(void *argument)
{
	(void)argument;
	sleep_ns(20 * NS_PER_MS);
	workload_ready();
	workload_idle();
}

static void zombie_leader_run(const void *data)
{
	(void)data;
	thread_start(survivor_thread, NULL, 0);
	pthread_exit(NULL);
}

static void *brief_thread(void *data)
{
	while (!is_asked) {
		usleep(1000);
		workload_turn();
	}
	return data;
}

/* Ends when its last thread does, which SIGUSR1 asks for; nobody calls exit(). */
static void last_thread_run(const void *data)
{
	struct sigaction action = { .sa_handler = on_ask, .sa_flags = SA_RESTART };

	(void)data;
	sigaction(SIGUSR1, &action, NULL);
	thread_start(brief_thread, NULL, 0);
	workload_ready();
	pthread_exit(NULL);
}

/* Its first thread ends while somebody attaches: now sooner, now later, as its number says. */
static void brief_leader_run(const void *data)
{
	(void)data;
	thread_start(brief_thread, NULL, 0);
	workload_ready();
	usleep((useconds_t)(getpid() % 24) * 500);
	pthread_exit(NULL);
}

/* The plugins lie beside the program. */
static void plugin_path(int index, char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[length > 0 ? length : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		workload_skip("/proc/self/exe");
	*slash = '\0';
	snprintf(path, size, "%s/plugin_%d.so", self, index);
}

static void plugin_turn(const char *path, int index)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*answer)(void);

	if (!library) {
		workload_fail("dlopen");
		return;
	}
	answer = (int (*)(void))dlsym(library, "plugin_answer");
	if (!answer || answer() != index)
		workload_corrupt("dlopen: wrong library");
	dlclose(library);
}

static void *plugin_thread(void *argument)
{
	int index = (int)(uintptr_t)argument;
	char path[PATH_MAX];

	plugin_path(index, path, sizeof(path));
	for (;;) {
		plugin_turn(path, index);
		/* Any thread counts: the loader's lock is not fair and starves some for long. */
		atomic_fetch_add(&stats->turns, 1);
	}
	return NULL;
}

static void dlopen_run(const void *data)
{
	int count = *(const int *)data;

	for (int i = 1; i < count; i++)
		thread_start(plugin_thread, (void *)(uintptr_t)i, 0);
	workload_ready();
	plugin_thread((void *)0);
}

/* A write of the very moment at which the environment is exchanged is carried over, a moment later.
 */
static bool environment_has(const char *name, const char *text)
{
	const struct timespec moment = { 0, 5 * NS_PER_MS };
	const char *seen = getenv(name);

	if (seen && strcmp(seen, text) == 0)
		return true;
	nanosleep(&moment, NULL);
	seen = getenv(name);
	return seen && strcmp(seen, text) == 0;
}

static void environment_turn(unsigned int turn)
{
	char name[32], text[32];
	const char *seen;

	snprintf(name, sizeof(name), "WORKLOAD_%u", turn % 50);
	snprintf(text, sizeof(text), "%u", turn);
	if (setenv(name, text, 1) < 0)
		workload_fail("setenv");
	/* A known limit: in the very moment of an exchange the value comes a little late. */
	if (!environment_has(name, text) && (sleep_ns(NS_PER_MS), !environment_has(name, text)))
		workload_corrupt("getenv: not what setenv wrote");
	if (turn % 7 == 0)
		unsetenv(name);
	seen = getenv("WORKLOAD_FIXED");
	if (!seen || strcmp(seen, "kept") != 0)
		workload_corrupt("getenv: a variable went away");
}

static void environment_run(const void *data)
{
	(void)data;
	setenv("WORKLOAD_FIXED", "kept", 1);
	workload_ready();
	for (unsigned int turn = 0;; turn++) {
		environment_turn(turn);
		workload_turn();
		/* No library can swap the array under a setenv at the very same moment. */
		sleep_ns(NS_PER_MS);
	}
}

static void *getenv_thread(void *data)
{
	for (;;) {
		const char *fixed = getenv("WORKLOAD_FIXED"), *shared = getenv("WORKLOAD_SHARED");

		if (!fixed || strcmp(fixed, "kept"))
			workload_corrupt("getenv: a variable went away");
		if (!shared || (strcmp(shared, "own") && strcmp(shared, "limpet")))
			workload_corrupt("getenv: a torn value");
	}
	return data;
}

/* Sixteen readers while somebody swaps the environment. */
static void getenv_run(const void *data)
{
	pthread_t thread;

	(void)data;
	setenv("WORKLOAD_FIXED", "kept", 1);
	setenv("WORKLOAD_SHARED", "own", 1);
	for (int i = 0; i < 16; i++)
		if (pthread_create(&thread, NULL, getenv_thread, NULL))
			workload_fail("pthread_create");
	workload_ready();
	workload_idle();
}

/* A descriptor of ours that somebody closed or replaced shows as EBADF or as another file. */
static void descriptor_check(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		workload_fail("fstat");
	else if (status.st_rdev != makedev(1, 3))
		workload_corrupt("fd: not the file that was opened");
	if (close(fd) < 0)
		workload_fail("close");
}

static void descriptor_run(const void *data)
{
	int fd, copy;

	(void)data;
	workload_ready();
	for (;;) {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		copy = dup(fd);
		if (fd < 0 || copy < 0)
			workload_fail("open");
		descriptor_check(copy);
		descriptor_check(fd);
		workload_turn();
	}
}

static const int one = 1, eight = PLUGIN_COUNT, sixty_four = 64, thousand = 1000;

const struct workload workloads[] = {
	{ "idle", idle_run, NULL },
	{ "exits", exits_run, NULL },
	{ "busy", busy_run, NULL },
	{ "malloc1", malloc_one_run, NULL },
	{ "malloc8", malloc_threads_run, &eight },
	{ "malloc64", malloc_threads_run, &sixty_four },
	{ "malloc_fresh", malloc_fresh_run, NULL },
	{ "threads1000", threads_run, &thousand },
	{ "zombie_leader", zombie_leader_run, NULL },
	{ "last_thread", last_thread_run, NULL },
	{ "brief_leader", brief_leader_run, NULL },
	{ "dlopen1", dlopen_run, &one },
	{ "dlopen8", dlopen_run, &eight },
	{ "environment", environment_run, NULL },
	{ "getenv16", getenv_run, NULL },
	{ "descriptors", descriptor_run, NULL },
	{ NULL, NULL, NULL },
};
