/*
 * A single-threaded program that is linked with nothing but libc: before glibc 2.34 it has neither
 * pthread_create nor dlopen in reach, and limpet must refuse it without touching it.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct workload_stats *page_map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	void *page;

	if (fd < 0 || ftruncate(fd, sizeof(struct workload_stats)) < 0)
		return NULL;
	page = mmap(NULL, sizeof(struct workload_stats), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return page == MAP_FAILED ? NULL : page;
}

int main(int argc, char **argv)
{
	const struct timespec pause = { 0, NS_PER_MS };
	struct workload_stats *page = argc == 3 ? page_map(argv[2]) : NULL;

	if (!page)
		return WORKLOAD_SKIP;
	atomic_store(&page->pid, (uint64_t)getpid());
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (nanosleep(&pause, NULL) < 0)
			atomic_fetch_add(&page->eintr, 1);
		atomic_fetch_add(&page->turns, 1);
	}
}
