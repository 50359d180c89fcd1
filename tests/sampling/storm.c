/*
 * Gives birth all the time, to processes or threads that live for a quarter of a second.  After
 * SIGUSR1 no more: whoever is there then makes a thread that computes for a while, and all ends.
 * Each of these threads is told, with the processor time that it had.
 *
 *   usage: storm processes|threads MILLISECONDS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEMBERS_MAX  4096u
#define BORN_EACH_NS 4000000
#define LIFE_NS      250000000u

struct told {
	int tid;
	uint64_t cpu_ns;
};

static struct {
	_Atomic int has_come; /* the signal */
	_Atomic unsigned count;
	struct told told[MEMBERS_MAX];
} * shared;
static uint64_t work_ns;
static _Atomic unsigned living;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void rest(long ns)
{
	nanosleep(&(struct timespec){ 0, ns }, NULL);
}

static void *compute(void *unused)
{
	unsigned index = shared->count++;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < work_ns)
		;
	if (index < MEMBERS_MAX)
		shared->told[index] = (struct told){ gettid(), clock_ns(CLOCK_THREAD_CPUTIME_ID) };
	return unused;
}

static void *live(void *unused)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + LIFE_NS;
	pthread_t thread;

	while (!shared->has_come && clock_ns(CLOCK_MONOTONIC) < end)
		rest(5000000);
	if (shared->has_come && !pthread_create(&thread, NULL, compute, NULL))
		pthread_join(thread, NULL);
	living--;
	return unused;
}

static void bear_process(void)
{
	pid_t child = fork();

	if (!child) {
		live(NULL);
		_exit(0);
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void bear_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 65536);
	living++;
	if (pthread_create(&thread, &attributes, live, NULL))
		living--;
	pthread_attr_destroy(&attributes);
}

static void on_signal(int number)
{
	(void)number;
	shared->has_come = 1;
}

int main(int argc, char **argv)
{
	int is_processes = argc > 2 && !strcmp(argv[1], "processes");

	if (argc < 3)
		return 2;
	work_ns = strtoull(argv[2], NULL, 10) * 1000000u;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	signal(SIGUSR1, on_signal);
	while (!shared->has_come) {
		if (is_processes)
			bear_process();
		else
			bear_thread();
		rest(BORN_EACH_NS);
	}
	while (waitpid(-1, NULL, 0) > 0 || living)
		rest(BORN_EACH_NS);
	for (unsigned i = 0; i < shared->count && i < MEMBERS_MAX; i++)
		printf("%d %llu\n", shared->told[i].tid,
		       (unsigned long long)shared->told[i].cpu_ns);
	return 0;
}
