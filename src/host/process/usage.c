/*
 * Reads the usage of a process.  Processor time is read from its clock, in nanoseconds:
 * /proc/PID/stat counts ticks of 10 ms, which a curve of short steps would show as spikes.
 */
#include "host/process/usage.h"

#include "host/core/text/text.h"
#include "host/process/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The second number of statm: pages that are in memory. */
static uint64_t rss_read(pid_t pid)
{
	char path[64], text[128];
	struct text rest;
	uint64_t pages = 0;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	if (text_read_small(path, text, sizeof(text)) <= 0)
		return 0;
	rest = text_of(text);
	(void)(text_take_number(&rest, 10, &pages) && text_take_char(&rest, ' ') &&
	       text_take_number(&rest, 10, &pages));
	return MIN(pages, UINT64_MAX >> 24) * (uint64_t)sysconf(_SC_PAGESIZE);
}

int process_usage_read(pid_t pid, struct process_usage *ret)
{
	struct process_status status;
	struct timespec time;
	struct err ignored;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time) ||
	    status_read(pid, pid, &status, &ignored))
		return -ESRCH;
	*ret = (struct process_usage){
		.cpu_ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec,
		.rss_bytes = rss_read(pid),
		.threads = status.threads,
	};
	return 0;
}
