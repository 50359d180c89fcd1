/*
 * Looks at a process as a whole.
 */
#include "host/ui/store/curves.h"

#include "host/core/clock.h"
#include "host/core/text/text.h"
#include "host/process/stat.h"
#include "host/process/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The second number of statm: pages that are in memory. */
static double rss_read(pid_t pid)
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
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double percent_of(const struct curves *self, uint64_t cpu_ns, uint64_t time_ns)
{
	if (!self->last_ns || time_ns <= self->last_ns || cpu_ns < self->last_cpu_ns)
		return 0;
	return 100 * (double)(cpu_ns - self->last_cpu_ns) / (double)(time_ns - self->last_ns);
}

static void points_halve(struct curves *self)
{
	for (size_t i = 0; i < self->count / 2; i++)
		self->points[i] = self->points[i * 2 + 1];
	self->count /= 2;
	self->stride *= 2;
}

static void point_keep(struct curves *self, const struct curve_point *point)
{
	if (!self->points) {
		self->points = calloc(CURVE_POINTS_MAX, sizeof(*self->points));
		self->stride = 1;
	}
	if (!self->points || ++self->skipped < self->stride)
		return;
	self->skipped = 0;
	if (self->count == CURVE_POINTS_MAX)
		points_halve(self);
	self->points[self->count++] = *point;
}

void curves_look(struct curves *self, pid_t pid)
{
	struct curve_point point = { .time_ns = now_ns() };
	struct process_stat stat;
	struct process_status status;
	struct err ignored;

	if (stat_read(pid, /* tid */ 0, &stat, &ignored) ||
	    status_read(pid, pid, &status, &ignored))
		return;
	point.cpu_percent = percent_of(self, stat.cpu_ns, point.time_ns);
	point.rss_bytes = rss_read(pid);
	point.threads = status.threads;
	self->last_ns = point.time_ns;
	self->last_cpu_ns = stat.cpu_ns;
	point_keep(self, &point);
}

void curves_done(struct curves *curves)
{
	free(curves->points);
	*curves = (struct curves){ 0 };
}
