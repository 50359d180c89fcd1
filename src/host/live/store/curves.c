/*
 * Polls the usage of a process.
 */
#include "host/live/store/curves.h"

#include "host/core/clock.h"
#include "host/process/stat.h"

#include <stdlib.h>

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

void curves_poll(struct curves *self, pid_t pid)
{
	struct curve_point point = { .time_ns = now_ns() };
	struct process_usage usage;

	if (process_usage_read(pid, &usage))
		return;
	point.cpu_percent = percent_of(self, usage.cpu_ns, point.time_ns);
	point.rss_bytes = (double)usage.rss_bytes;
	point.threads = usage.threads;
	self->last_ns = point.time_ns;
	self->last_cpu_ns = usage.cpu_ns;
	point_keep(self, &point);
}

void curves_done(struct curves *curves)
{
	free(curves->points);
	*curves = (struct curves){ 0 };
}
