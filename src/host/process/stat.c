/*
 * Parses /proc/PID/stat: fields by position, after a name that may itself hold blanks and brackets.
 */
#include "host/process/stat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "host/core/text/text.h"
#include "host/process/procfs.h"
#include "host/process/status.h"

#define PF_EXITING 0x00000004u
#define PF_KTHREAD 0x00200000u /* include/linux/sched.h; the same since 2.6.26 */
/* Both bits meant something else before. */
#define PF_IO_WORKER   0x00000010u /* since Linux 5.12 */
#define PF_USER_WORKER 0x00004000u /* since Linux 6.4 */

/* Positions as in proc(5). */
enum {
	STAT_STATE = 3,
	STAT_PARENT = 4,
	STAT_SESSION = 6,
	STAT_FLAGS = 9,
	STAT_USER_TIME = 14,
	STAT_SYSTEM_TIME = 15,
	STAT_START = 22
};

static uint64_t ticks_to_ns(uint64_t ticks)
{
	return ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Fields that can be negative are not kept: they read as 0. */
static bool read_fields(struct text rest, uint64_t fields[STAT_START + 1])
{
	struct text word;

	for (size_t i = STAT_STATE; i <= STAT_START; i++) {
		if (!text_take_word(&rest, &word))
			return false;
		fields[i] = 0;
		if (i == STAT_STATE)
			fields[i] = (unsigned char)*word.at;
		else if (!text_take_number(&word, 10, &fields[i]) && *word.at != '-')
			return false;
	}
	return true;
}

uint32_t stat_worker_flags(void)
{
	struct utsname system;
	unsigned major, minor;

	if (uname(&system) || sscanf(system.release, "%u.%u", &major, &minor) != 2)
		return 0;
	if (major > 6 || (major == 6 && minor >= 4))
		return PF_IO_WORKER | PF_USER_WORKER;
	return major == 6 || (major == 5 && minor >= 12) ? PF_IO_WORKER : 0;
}

int stat_parse(const char *text, size_t size, struct process_stat *ret, struct err *err)
{
	const char *open = memchr(text, '(', size), *close = memrchr(text, ')', size);
	uint64_t fields[STAT_START + 1] = { 0 };

	if (!open || !close || close < open ||
	    !read_fields((struct text){ close + 1, text + size }, fields))
		return err_set(err, -EBADMSG, "malformed stat line: '%.*s'", (int)MIN(size, 80),
			       text);

	*ret = (struct process_stat){
		.state = (char)fields[STAT_STATE],
		.parent = (pid_t)fields[STAT_PARENT],
		.session = (pid_t)fields[STAT_SESSION],
		.is_kernel_thread = fields[STAT_FLAGS] & PF_KTHREAD,
		.is_kernel_worker = (fields[STAT_FLAGS] & (PF_IO_WORKER | PF_USER_WORKER) &&
				     fields[STAT_FLAGS] & stat_worker_flags()),
		.is_exiting = fields[STAT_FLAGS] & PF_EXITING,
		.cpu_ns =
			ticks_to_ns(fields[STAT_USER_TIME]) + ticks_to_ns(fields[STAT_SYSTEM_TIME]),
		.start_tick = fields[STAT_START],
	};
	text_copy_printable((struct text){ open + 1, close }, ret->name, sizeof(ret->name));
	return 0;
}

int stat_read(pid_t pid, pid_t tid, struct process_stat *ret, struct err *err)
{
	char name[48], text[1024];
	ssize_t size;

	/* A process's own stat sums its threads; a thread's does not. */
	if (tid)
		snprintf(name, sizeof(name), "task/%d/stat", (int)tid);
	else
		snprintf(name, sizeof(name), "stat");
	size = proc_read_small(pid, name, text, sizeof(text), err);
	return size < 0 ? (int)size : stat_parse(text, (size_t)size, ret, err);
}

static bool read_number(struct text *rest, uint64_t *ret)
{
	struct text word;

	return text_take_word(rest, &word) && text_take_number(&word, 10, ret);
}

int schedstat_parse(const char *text, size_t size, struct schedstat *ret)
{
	struct text rest = { text, text + size };
	struct schedstat read;

	if (!read_number(&rest, &read.run_ns) || !read_number(&rest, &read.wait_ns) ||
	    !read_number(&rest, &read.turns))
		return -EBADMSG;
	*ret = read;
	return 0;
}

int schedstat_read(pid_t pid, pid_t tid, struct schedstat *ret)
{
	char path[64], text[128];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	size = text_read_small(path, text, sizeof(text));
	return size < 0 ? (int)size : schedstat_parse(text, (size_t)size, ret);
}

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
