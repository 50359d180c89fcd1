/*
 * main() and the helpers of every workload program: maps the statistics page, finds the workload by
 * name and runs it.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct workload_stats *stats;
char **workload_argv;

static pid_t owner;
static uint64_t last_turn_ns;

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void sleep_ns(uint64_t time_ns)
{
	struct timespec left = { (time_t)(time_ns / NS_PER_S), (long)(time_ns % NS_PER_S) };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

void workload_ready(void)
{
	if (!atomic_load(&stats->pid))
		atomic_store(&stats->pid, (uint64_t)getpid());
	if (atomic_exchange(&stats->ready, 1))
		return;
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		_exit(1);
}

void workload_turn(void)
{
	uint64_t now = now_ns();

	if (last_turn_ns && now - last_turn_ns > atomic_load(&stats->max_gap_ns))
		atomic_store(&stats->max_gap_ns, now - last_turn_ns);
	last_turn_ns = now;
	atomic_fetch_add(&stats->turns, 1);
}

/* Only the first words are kept: they are the cause, the rest follows from it. */
static void detail_keep(const char *what, int code)
{
	if (!stats->detail[0])
		snprintf(stats->detail, sizeof(stats->detail), "%s: %s", what,
			 code ? strerror(code) : "wrong data");
}

void workload_fail(const char *what)
{
	int code = errno;

	detail_keep(what, code);
	atomic_fetch_add(&stats->errors, 1);
}

void workload_corrupt(const char *what)
{
	detail_keep(what, 0);
	atomic_fetch_add(&stats->corruptions, 1);
}

_Noreturn void workload_skip(const char *what)
{
	printf("skip: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(WORKLOAD_SKIP);
}

_Noreturn void workload_idle(void)
{
	const struct timespec pause = { 0, NS_PER_MS };

	for (;;) {
		if (nanosleep(&pause, NULL) < 0)
			atomic_fetch_add(&stats->eintr, errno == EINTR);
		workload_turn();
	}
}

void thread_start(void *(*run)(void *), void *argument, size_t stack_bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (stack_bytes)
		pthread_attr_setstacksize(&attributes, stack_bytes);
	errno = pthread_create(&thread, &attributes, run, argument);
	if (errno)
		workload_skip("pthread_create");
	pthread_detach(thread);
	pthread_attr_destroy(&attributes);
}

pid_t companion_owner(void)
{
	return owner;
}

void companion_start(void (*step)(void), uint64_t period_ns, void (*end)(void))
{
	pid_t child;

	owner = getpid();
	child = fork();
	if (child < 0)
		workload_skip("fork");
	if (child > 0)
		return;
	/* A driver kills the group of the target; the companion still has to clean up. */
	setpgid(0, 0);
	while (getppid() == owner) {
		sleep_ns(period_ns);
		step();
	}
	if (end)
		end();
	_exit(0);
}

static struct workload_stats *stats_map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	void *page;

	if (fd < 0 || ftruncate(fd, sizeof(*stats)) < 0)
		workload_skip(path);
	page = mmap(NULL, sizeof(*stats), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		workload_skip(path);
	close(fd);
	return page;
}

static const struct workload *workload_find(const char *name)
{
	const struct workload *workload = workloads;

	while (workload->name && strcmp(workload->name, name) != 0)
		workload++;
	return workload->name ? workload : NULL;
}

static int workload_list(void)
{
	for (const struct workload *workload = workloads; workload->name; workload++)
		puts(workload->name);
	return 0;
}

int main(int argc, char **argv)
{
	const struct workload *workload;

	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return workload_list();
	workload = argc >= 3 ? workload_find(argv[1]) : NULL;
	if (!workload) {
		fprintf(stderr, "usage: %s WORKLOAD STATISTICS-FILE | --list\n", argv[0]);
		return 2;
	}
	workload_argv = argv;
	stats = stats_map(argv[2]);
	atomic_store(&stats->magic, WORKLOAD_MAGIC);
	workload->run(workload->data);
	return 1;
}
