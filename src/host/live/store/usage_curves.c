/*
 * Adds up readings of processes: between two readings a process used its processor evenly, and had
 * the memory and threads of the first.
 */
#include "host/live/store/curves.h"

#include "host/core/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Between readings further apart nothing is known: the recording had paused. */
#define GAP_NS 10000000000u
/* How long a single reading of a process counts. */
#define ALONE_NS 200000000u

/* Sums of one bin, or differences to the bin before. */
struct cell {
	double cpu_ns, rss_bytes, threads, readings;
};

struct filling {
	const struct bins *bins;
	struct cell *parts;         /* of time in bins that are covered partly */
	struct cell *levels;        /* differences */
	uint64_t first_ns, last_ns; /* of all readings */
};

/* Of one process. */
struct last_reading {
	const struct recorded_usage *reading;
	uint64_t length_ns; /* since the one before */
};

/* Times are made relative to the first bin; false: outside of all. */
static bool times_clip(const struct bins *bins, uint64_t *begin_ns, uint64_t *end_ns)
{
	uint64_t all_ns = bins->step_ns * bins->count;

	*begin_ns -= MIN(*begin_ns, bins->from_ns);
	*end_ns = MIN(*end_ns - MIN(*end_ns, bins->from_ns), all_ns);
	return *begin_ns < *end_ns;
}

/* Adds to the bins whose ends are in the interval. */
static void level_add(struct filling *self, const struct recorded_usage *reading, uint64_t begin_ns,
		      uint64_t end_ns)
{
	const uint64_t step_ns = self->bins->step_ns;
	struct cell *from = &self->levels[begin_ns / step_ns],
		    *to = &self->levels[end_ns / step_ns];

	from->rss_bytes += (double)reading->rss_bytes;
	from->threads += reading->threads;
	from->readings++;
	to->rss_bytes -= (double)reading->rss_bytes;
	to->threads -= reading->threads;
	to->readings--;
}

/* `rate` is processor time by time. */
static void cpu_add(struct filling *self, double rate, uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t step_ns = self->bins->step_ns;
	uint64_t first = begin_ns / step_ns, last = (end_ns - 1) / step_ns;

	if (first == last) {
		self->parts[first].cpu_ns += rate * (double)(end_ns - begin_ns);
		return;
	}
	self->parts[first].cpu_ns += rate * (double)((first + 1) * step_ns - begin_ns);
	self->parts[last].cpu_ns += rate * (double)(end_ns - last * step_ns);
	self->levels[first + 1].cpu_ns += rate * (double)step_ns;
	self->levels[last].cpu_ns -= rate * (double)step_ns;
}

static void interval_add(struct filling *self, const struct recorded_usage *reading, double rate,
			 uint64_t length_ns)
{
	uint64_t begin_ns = reading->time_ns,
		 end_ns = begin_ns + MIN(length_ns, UINT64_MAX - begin_ns);

	if (!times_clip(self->bins, &begin_ns, &end_ns))
		return;
	level_add(self, reading, begin_ns, end_ns);
	cpu_add(self, rate, begin_ns, end_ns);
}

/* Readings out of order are dropped. */
static void reading_add(struct filling *self, struct last_reading *last,
			const struct recorded_usage *reading)
{
	const struct recorded_usage *before = last->reading;
	uint64_t length_ns;

	if (before && reading->time_ns <= before->time_ns)
		return;
	*last = (struct last_reading){ reading, ALONE_NS };
	self->first_ns = MIN(self->first_ns, reading->time_ns);
	self->last_ns = MAX(self->last_ns, reading->time_ns);
	if (!before)
		return;
	length_ns = reading->time_ns - before->time_ns;
	if (length_ns > GAP_NS)
		return;
	last->length_ns = length_ns;
	interval_add(self, before,
		     (double)(reading->cpu_ns - MIN(reading->cpu_ns, before->cpu_ns)) /
			     (double)length_ns,
		     length_ns);
}

static void readings_add(struct filling *self, const struct model *model, struct last_reading *last)
{
	for (size_t i = 0; i < model->usage.count; i++)
		reading_add(self, &last[model->usage.items[i].process], &model->usage.items[i]);
	for (uint32_t i = 0; i < model->process_count; i++)
		if (last[i].reading)
			interval_add(self, last[i].reading, 0, last[i].length_ns);
}

/* The part of a bin between the first reading and the last. */
static double known_ns(const struct filling *self, uint64_t bin)
{
	uint64_t begin_ns = self->bins->from_ns + bin * self->bins->step_ns;
	uint64_t from_ns = MAX(begin_ns, self->first_ns);
	uint64_t to_ns = MIN(begin_ns + self->bins->step_ns, self->last_ns);

	return (double)(to_ns - MIN(to_ns, from_ns));
}

static void points_make(const struct filling *self, struct curve_point *ret)
{
	struct cell sum = { 0 };

	for (uint64_t i = 0; i < self->bins->count; i++) {
		double known = known_ns(self, i);

		sum.cpu_ns += self->levels[i].cpu_ns;
		sum.rss_bytes += self->levels[i].rss_bytes;
		sum.threads += self->levels[i].threads;
		sum.readings += self->levels[i].readings;
		ret[i].cpu_percent = sum.readings > 0 && 2 * known > (double)self->bins->step_ns
					     ? 100 * (sum.cpu_ns + self->parts[i].cpu_ns) / known
					     : (double)NAN;
		ret[i].rss_bytes = sum.readings > 0 ? sum.rss_bytes : (double)NAN;
		ret[i].threads = sum.readings > 0 ? sum.threads : (double)NAN;
	}
}

int usage_curves_fill(const struct model *model, const struct bins *bins, struct curve_point *ret)
{
	CLEANUP(free) struct cell *cells = calloc(2 * (bins->count + 1), sizeof(*cells));
	CLEANUP(free)
	struct last_reading *last = calloc(model->process_count + 1, sizeof(*last));
	struct filling self = { bins, cells, cells + bins->count + 1, UINT64_MAX, 0 };

	if (!cells || !last)
		return -ENOMEM;
	readings_add(&self, model, last);
	points_make(&self, ret);
	return 0;
}
