/*
 * Detects forks by the best source that this machine allows; reads /proc and one socket.
 */
#include "host/process/forks/forks.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/forks/process_events.h"
#include "host/process/procfs.h"

#include <errno.h>
#include <string.h>

#define NUMBERS_MS 1
#define GLANCE_NS  10000000ull
#define WALK_NS    500000000ull
#define SCAN_SHARE 20 /* scans may take one part in so many of a processor */

static const char *const source_names[] = {
	[FORKS_EVENTS] = "events",
	[FORKS_NUMBERS] = "numbers",
	[FORKS_WALK] = "walk",
};

const char *forks_source_name(enum forks_source source)
{
	return source_names[source];
}

void forks_open(struct forks *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->numbers.fd = -1;
	ret->events = process_events_open();
	if (ret->events >= 0)
		ret->source = FORKS_EVENTS;
	else if (!process_numbers_open(&ret->numbers))
		ret->source = FORKS_NUMBERS;
	else
		ret->source = FORKS_WALK;
}

struct fork_report {
	forks_visitor *visit;
	void *context;
};

static void report_fork(const struct fork_report *report, const struct lineage *lineage)
{
	report->visit(&(struct fork_event){ .lineage = *lineage }, report->context);
}

/* The time of the next scan, after one that began then. */
static uint64_t next_scan_ns(uint64_t begin_ns, uint64_t period_ns)
{
	uint64_t end_ns = now_ns();

	return end_ns + MAX(period_ns, SCAN_SHARE * (end_ns - begin_ns));
}

/* The net under the counter and under the glances; the kernel's events need none. */
static void scan_all(struct forks *self, const struct fork_report *report)
{
	CLEANUP(free) struct lineage *list = NULL;
	uint64_t begin_ns = now_ns();
	struct err ignored;
	size_t count = 0;

	if (lineage_read_all(&list, &count, &ignored))
		count = 0;
	for (size_t i = 0; i < count; i++)
		report_fork(report, &list[i]);
	self->next_walk_ns =
		self->source == FORKS_EVENTS ? UINT64_MAX : next_scan_ns(begin_ns, WALK_NS);
}

static bool was_seen(const struct forks *self, pid_t pid, size_t *at)
{
	while (*at < self->seen_count && self->seen[*at] < pid)
		++*at;
	return *at < self->seen_count && self->seen[*at] == pid;
}

/* Reads only processes whose numbers were free at the last glance. */
static void scan_new_numbers(struct forks *self, const struct fork_report *report)
{
	uint64_t begin_ns = now_ns();
	struct err ignored;
	pid_t *pids = NULL;
	size_t count = 0, at = 0;
	struct lineage lineage;

	if (proc_list(0, "", &pids, &count, &ignored))
		return;
	for (size_t i = 0; i < count; i++)
		if (!was_seen(self, pids[i], &at) && !lineage_read(pids[i], &lineage))
			report_fork(report, &lineage);
	free(self->seen);
	self->seen = pids;
	self->seen_count = count;
	self->next_glance_ns = next_scan_ns(begin_ns, GLANCE_NS);
}

static void read_events(struct forks *self, const struct fork_report *report)
{
	struct process_event event;
	int r;

	while (!(r = process_events_read(self->events, &event)))
		report->visit(&(struct fork_event){ event.kind == PROCESS_EXECUTED,
						    { .pid = event.pid, .parent = event.parent } },
			      report->context);
	if (r != -EAGAIN)
		self->next_walk_ns = 0; /* some were lost */
}

static bool report_number(pid_t pid, void *context)
{
	struct lineage lineage;

	if (lineage_read(pid, &lineage))
		return false;
	report_fork(context, &lineage);
	return true;
}

void forks_poll(struct forks *self, forks_visitor *visit, void *context)
{
	struct fork_report report = { visit, context };

	if (self->source == FORKS_EVENTS)
		read_events(self, &report);
	if (self->source == FORKS_NUMBERS &&
	    process_numbers_poll(&self->numbers, report_number, &report))
		self->next_walk_ns = 0; /* too many at once */
	if (self->source == FORKS_WALK && now_ns() >= self->next_glance_ns)
		scan_new_numbers(self, &report);
	if (now_ns() >= self->next_walk_ns)
		scan_all(self, &report);
}

int forks_wait_ms(const struct forks *self)
{
	uint64_t now = now_ns();

	if (self->source == FORKS_EVENTS)
		return self->next_walk_ns ? -1 : 0;
	if (self->source == FORKS_NUMBERS)
		return NUMBERS_MS;
	return self->next_glance_ns <= now ? 0 : (int)((self->next_glance_ns - now) / 1000000 + 1);
}

void forks_close(struct forks *forks)
{
	if (forks->events >= 0)
		process_events_close(forks->events);
	process_numbers_close(&forks->numbers);
	free(forks->seen);
	forks->seen = NULL;
	forks->events = -1;
}
