/*
 * What bench/trace.py measures: calls of a function that does next to nothing, in another library,
 * of malloc and free, and of write.  Prints the cost of each every 0.2 s, as nanoseconds a call:
 *the fifth percentile of short windows, which is what an undisturbed call takes.
 *
 *	trace_target call|malloc|write SECONDS [THREADS PAUSE_NS]
 *
 * With THREADS, so many threads make calls and say nothing, with a pause after every 16.
 */
#define _GNU_SOURCE
#include "trace_callee.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WINDOW_NS 200000ull
#define REPORT_NS 200000000ull
#define BATCH     16
#define WINDOWS   2048

static volatile uint64_t sink;
static void *volatile taken;
static int null_fd;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void call_batch(void)
{
	for (uint64_t i = 0; i < BATCH; i++)
		sink = trivial(sink, i);
}

static void malloc_batch(void)
{
	for (int i = 0; i < BATCH; i++) {
		taken = malloc(64);
		free(taken);
	}
}

static void write_batch(void)
{
	for (int i = 0; i < BATCH; i++)
		sink = (uint64_t)write(null_fd, "x", 1);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double window(void (*batch)(void))
{
	uint64_t begin = now(), end, calls = 0;

	do {
		batch();
		calls += BATCH;
		end = now();
	} while (end - begin < WINDOW_NS);
	return (double)(end - begin) / (double)calls;
}

static void report(void (*batch)(void))
{
	static double windows[WINDOWS];
	uint64_t begin = now();
	size_t count = 0;

	while (now() - begin < REPORT_NS && count < WINDOWS)
		windows[count++] = window(batch);
	qsort(windows, count, sizeof(windows[0]), compare);
	printf("%.2f %.2f\n", windows[count / 20], windows[count / 2]);
	fflush(stdout);
}

static void (*batch)(void);
static uint64_t pause_ns;

static void *work(void *unused)
{
	(void)unused;
	for (;;) {
		uint64_t begin = now();

		batch();
		while (pause_ns && now() - begin < pause_ns)
			;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t end = now() + (uint64_t)(argc > 2 ? atoi(argv[2]) : 10) * 1000000000u;
	int threads = argc > 3 ? atoi(argv[3]) : 0;

	batch = argc > 1 && !strcmp(argv[1], "malloc")  ? malloc_batch
		: argc > 1 && !strcmp(argv[1], "write") ? write_batch
							: call_batch;
	pause_ns = argc > 4 ? (uint64_t)atoi(argv[4]) : 0;
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	for (int i = 0; i < threads; i++)
		pthread_create(&(pthread_t){ 0 }, NULL, work, NULL);
	while (now() < end)
		if (threads)
			usleep(100000);
		else
			report(batch);
	return 0;
}
