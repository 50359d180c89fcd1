/*
 * A target for counters.  It waits for a line, does its work, says "done", and waits again; at the
 * end of its input it ends.
 *
 *   usage: counted WORK [NUMBER]
 *
 *   compute   uses a processor for NUMBER milliseconds
 *   fault     touches NUMBER pages that it has just mapped
 *   sleep     sleeps NUMBER times for a short moment
 *   threads   starts NUMBER threads, each after the end of the last; each computes, faults, sleeps
 *   fork      the same with processes
 *   rest      does nothing
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGES_EACH 4
#define SLEEP_NS   200000

static volatile unsigned long sink;

static long long cpu_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void compute(long milliseconds)
{
	long long end = cpu_ms(CLOCK_THREAD_CPUTIME_ID) + milliseconds;

	while (cpu_ms(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 10000; i++)
			sink += (unsigned long)i;
}

static void fault(long pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)pages * page;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += page)
		memory[i] = 1;
	munmap(memory, size);
}

static void sleep_often(long times)
{
	struct timespec moment = { 0, SLEEP_NS };

	for (long i = 0; i < times; i++)
		nanosleep(&moment, NULL);
}

static void do_little(void)
{
	compute(2);
	fault(PAGES_EACH);
	sleep_often(1);
}

static void *run_thread(void *unused)
{
	pthread_setname_np(pthread_self(), "short-lived");
	do_little();
	return unused;
}

static void start_threads(long count)
{
	for (long i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run_thread, NULL))
			exit(1);
		pthread_join(thread, NULL);
	}
}

static void start_processes(long count)
{
	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0) {
			do_little();
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			exit(1);
	}
}

static void rest(long unused)
{
	(void)unused;
}

static const struct {
	const char *name;
	void (*run)(long number);
} works[] = {
	{ "compute", compute },       { "fault", fault },          { "sleep", sleep_often },
	{ "threads", start_threads }, { "fork", start_processes }, { "rest", rest },
};

int main(int argc, char **argv)
{
	long number = argc > 2 ? atol(argv[2]) : 0;
	char line[64];
	size_t work = 0;

	while (work < 6 && (argc < 2 || strcmp(works[work].name, argv[1])))
		work++;
	if (work == 6)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		works[work].run(number);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
