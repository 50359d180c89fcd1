/*
 * The answer about a process over time: processor, memory, threads.
 */
#include "host/core/cleanup.h"
#include "host/live/store/bins.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Shorter steps would show single samples as spikes. */
#define STEP_LEAST_NS 200000000u

static void point_write(struct columns *columns, double time_ns, const struct curve_point *point)
{
	cell_f64(columns, time_ns);
	cell_f64(columns, point->cpu_percent);
	cell_f64(columns, point->rss_bytes);
	cell_f64(columns, point->threads);
}

/* Processor time from samples, if there are no readings of the processes themselves. */
static int busy_add(const struct slice *slice, const struct bins *bins, struct curve_point *points)
{
	CLEANUP(bins_sums_done) struct bins_sums busy = { 0 };

	if (bins_sums_init(&busy, bins->count) ||
	    bins_fill(&busy, bins, &(struct bins_rows){ .count = 1 }, slice))
		return -ENOMEM;
	for (uint64_t i = 0; i < bins->count; i++)
		if (isnan(points[i].cpu_percent))
			points[i].cpu_percent = 100 * busy.cells[i] / (double)bins->step_ns;
	return 0;
}

static int curves_read_slice(const struct slice *slice, void *context)
{
	struct answer *self = context;
	uint64_t last_ns = MIN(slice->to_ns, slice->end_ns);
	uint64_t length_ns = last_ns - MIN(last_ns, slice->from_ns);
	uint64_t step_ns = MAX(length_ns / MAX(self->command->width, 1u), (uint64_t)STEP_LEAST_NS);
	const struct bins bins = { slice->from_ns, step_ns, MAX(length_ns / step_ns, 1u) };
	CLEANUP(free) struct curve_point *points = calloc(bins.count, sizeof(*points));
	int r = points ? usage_curves_fill(slice->model, &bins, points) : -ENOMEM;

	if (!r)
		r = busy_add(slice, &bins, points);
	for (uint64_t i = 0; !r && i < bins.count; i++)
		point_write(&self->columns,
			    (double)(slice->from_ns - slice->origin_ns + i * step_ns), &points[i]);
	return r;
}

static void live_curves_write(struct answer *self)
{
	const struct ui_range *range = &self->command->range;
	const struct curves *curves = &self->session->curves;

	for (size_t i = 0; i < curves->count; i++) {
		uint64_t time_ns = curves->points[i].time_ns - self->session->origin_ns;

		if (time_ns >= range->from_ns && (!range->to_ns || time_ns < range->to_ns))
			point_write(&self->columns, (double)time_ns, &curves->points[i]);
	}
}

int answer_curves(struct answer *self)
{
	static const struct column_name names[] = { { "time", COLUMN_F64 },
						    { "cpu_percent", COLUMN_F64 },
						    { "rss_bytes", COLUMN_F64 },
						    { "threads", COLUMN_F64 } };
	bool is_live = ui_session_is_live(self->session);

	columns_begin(&self->columns, names, ARRAY_SIZE(names));
	json_text(self->json, "empty_rss",
		  is_live || self->session->store.model->usage.count
			  ? ""
			  : "this recording does not hold the memory in use: older ones, those of "
			    "every process and those that limpet top saves do not");
	if (!is_live)
		return ui_session_read(self->session, &self->command->range, KINDS_ON_CPU,
				       curves_read_slice, self);
	pthread_mutex_lock(&self->ui->sessions.lock);
	live_curves_write(self);
	pthread_mutex_unlock(&self->ui->sessions.lock);
	return 0;
}
