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

struct curve_answer {
	struct columns *columns;
	const struct ui_command *command;
};

static void curve_point_write(const struct curve_answer *self, double time_ns,
			      const struct curve_point *point)
{
	cell_f64(self->columns, time_ns);
	cell_f64(self->columns, point->cpu_percent);
	cell_f64(self->columns, point->rss_bytes);
	cell_f64(self->columns, point->threads);
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

static struct bins bins_of(const struct slice *slice, uint64_t width)
{
	uint64_t last_ns = MIN(slice->to_ns, slice->end_ns);
	uint64_t length_ns = last_ns - MIN(last_ns, slice->from_ns);
	uint64_t step_ns = MAX(length_ns / MAX(width, 1u), (uint64_t)STEP_LEAST_NS);

	return (struct bins){ slice->from_ns, step_ns, MAX(length_ns / step_ns, 1u) };
}

static int curves_read_slice(const struct slice *slice, void *context)
{
	const struct curve_answer *self = context;
	const struct bins bins = bins_of(slice, self->command->width);
	CLEANUP(free) struct curve_point *points = calloc(bins.count, sizeof(*points));
	int r = points ? usage_curves_fill(slice->model, &bins, points) : -ENOMEM;

	if (!r)
		r = busy_add(slice, &bins, points);
	for (uint64_t i = 0; !r && i < bins.count; i++)
		curve_point_write(self,
				  (double)(slice->from_ns - slice->origin_ns + i * bins.step_ns),
				  &points[i]);
	return r;
}

static void live_curves_write(const struct ui_session *session, const struct curve_answer *self)
{
	for (size_t i = 0; i < session->curves.count; i++) {
		const struct curve_point *point = &session->curves.points[i];
		uint64_t time_ns = point->time_ns - session->origin_ns;

		if (time_ns >= self->command->range.from_ns &&
		    (!self->command->range.to_ns || time_ns < self->command->range.to_ns))
			curve_point_write(self, (double)time_ns, point);
	}
}

static const char *rss_empty(const struct ui_session *session)
{
	if (ui_session_is_live(session) || session->store.model->usage.count)
		return "";
	return "this recording does not hold the memory in use: older ones, those of every process "
	       "and those that limpet top saves do not";
}

int answer_curves(struct ui *ui, const struct ui_command *command, struct reply *reply,
		  struct err *err)
{
	static const struct column_name names[] = { { "time", COLUMN_F64 },
						    { "cpu_percent", COLUMN_F64 },
						    { "rss_bytes", COLUMN_F64 },
						    { "threads", COLUMN_F64 } };
	CLEANUP(columns_done) struct columns columns = { 0 };
	struct ui_session *session = sessions_find(&ui->sessions, command->range.session, err);
	struct curve_answer self = { .columns = &columns, .command = command };
	int r;

	if (!session)
		return err->code;
	if (columns_init(&columns))
		return err_set(err, -ENOMEM, "curves: no memory");
	columns_begin(&columns, names, ARRAY_SIZE(names));
	json_text(&columns.facts, "empty_rss", rss_empty(session));
	pthread_mutex_lock(&ui->sessions.lock);
	if (ui_session_is_live(session))
		live_curves_write(session, &self);
	pthread_mutex_unlock(&ui->sessions.lock);
	r = ui_session_is_live(session) ? 0
					: ui_session_read(session, &command->range, KINDS_ON_CPU,
							  curves_read_slice, &self);
	return r ? err_set(err, r, "curves: no memory")
		 : reply_columns(reply, &columns, command->is_json, err);
}
