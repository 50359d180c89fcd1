/*
 * Counters over time: for each metric a value in each of `width` parts of the range, the mean of
 * its windows there.
 */
#include "host/core/cleanup.h"
#include "host/model/windows/windows.h"
#include "host/ui/answers/handlers.h"

#include <errno.h>
#include <stdlib.h>

#define METRICS_MAX       256u
#define COUNTER_CELLS_MAX ((size_t)1 << 20) /* of all metrics */

struct counter_cell {
	double sum;     /* of values, each for its time in the part */
	double time_ns; /* 0: nothing is known */
	/* During filling: the weights that begin to cover whole parts here, less those that
	 * ended. */
	double whole;
	int64_t wholes;
};

struct counter_answer {
	struct answer *answer;
	uint64_t from_ns, step_ns; /* CLOCK_BOOTTIME */
	size_t width, metric_count;
	struct counter_cell *cells; /* of each metric `width` */
};

static void piece_add(struct counter_cell *cell, double value, uint64_t time_ns)
{
	cell->sum += value * (double)time_ns;
	cell->time_ns += (double)time_ns;
}

static void whole_add(struct counter_cell *cell, double value, int count)
{
	cell->whole += value * count;
	cell->wholes += count;
}

/* Adds to the two parts in which it begins and ends; those between are covered.  So its cost is the
 * same for any number of parts. */
static int window_add(const struct window *window, void *context)
{
	struct counter_answer *self = context;
	uint64_t last_ns = self->from_ns + self->step_ns * self->width;
	uint64_t at = MAX(window->begin_ns, self->from_ns), until = MIN(window->end_ns, last_ns);
	struct counter_cell *cells;
	uint64_t begin, end;
	double value;

	if (window->metric->number >= self->metric_count || at >= until ||
	    !window_rate(window, &value))
		return 0;
	cells = self->cells + window->metric->number * self->width;
	begin = (at - self->from_ns) / self->step_ns;
	end = (until - 1 - self->from_ns) / self->step_ns;
	piece_add(&cells[begin], value,
		  MIN(until, self->from_ns + (begin + 1) * self->step_ns) - at);
	if (begin == end)
		return 0;
	piece_add(&cells[end], value, until - (self->from_ns + end * self->step_ns));
	whole_add(&cells[begin + 1], value, 1);
	whole_add(&cells[end], value, -1);
	return 0;
}

static void cells_finish(const struct counter_answer *self)
{
	struct counter_cell running = { 0 };

	for (size_t i = 0; i < self->metric_count * self->width; i++) {
		struct counter_cell *cell = &self->cells[i];

		running.whole += cell->whole;
		running.wholes += cell->wholes;
		if (!running.wholes)
			running.whole = 0;
		piece_add(cell, running.whole, running.wholes ? self->step_ns : 0);
		cell->time_ns += (double)(MAX(running.wholes, 1) - 1) * (double)self->step_ns;
	}
}

static void metric_write(struct json *json, const struct model *model,
			 const struct model_metric *metric)
{
	char title[256];

	metric_title(model, metric, title, sizeof(title));
	json_object(json, NULL);
	json_number(json, "number", metric->number);
	json_text(json, "title", title);
	json_text(json, "name", metric->name);
	json_text(json, "source", metric->source);
	json_text(json, "subject", metric->subject);
	json_text(json, "description", metric->description);
	json_text(json, "form", metric_form_name(metric->form));
	json_text(json, "unit", metric_rate_unit(metric));
	json_signed(json, "pid", metric->process ? metric->process->pid : 0);
	json_object_end(json);
}

static void cells_write(const struct counter_answer *self, uint64_t origin_ns)
{
	struct columns *columns = &self->answer->columns;

	for (size_t i = 0; i < self->metric_count * self->width; i++) {
		const struct counter_cell *cell = &self->cells[i];

		if (!(cell->time_ns > 0))
			continue;
		cell_u32(columns, (uint32_t)(i / self->width));
		cell_f64(columns, (double)(self->from_ns - origin_ns) +
					  (double)(i % self->width) * (double)self->step_ns);
		cell_f64(columns, cell->sum / cell->time_ns);
	}
}

static int model_add_up(struct counter_answer *self, struct model *model)
{
	const struct ui_command *command = self->answer->command;
	struct ui_session *session = self->answer->session;
	uint64_t origin_ns = calls_origin_ns(&session->calls, model);
	uint64_t to_ns = command->range.to_ns ? command->range.to_ns : ui_session_end_ns(session);
	uint64_t length_ns = to_ns - MIN(to_ns, command->range.from_ns);
	int r;

	self->metric_count = MIN(model->windows.metric_count, (size_t)METRICS_MAX);
	self->width = MIN(MAX(command->width, 1u), COUNTER_CELLS_MAX / MAX(self->metric_count, 1u));
	self->from_ns = origin_ns + command->range.from_ns;
	self->step_ns = MAX(length_ns / self->width, (uint64_t)1);
	self->cells = calloc(self->metric_count * self->width + 1, sizeof(*self->cells));
	if (!self->cells)
		return -ENOMEM;
	r = model_each_window(model, window_add, self);
	cells_finish(self);
	if (!r)
		cells_write(self, origin_ns);
	free(self->cells);
	return r;
}

int answer_counters(struct answer *answer)
{
	static const struct column_name names[] = { { "metric", COLUMN_U32 },
						    { "time", COLUMN_F64 },
						    { "value", COLUMN_F64 } };
	struct counter_answer self = { .answer = answer };
	struct model *model;
	int r = 0;

	columns_begin(&answer->columns, names, ARRAY_SIZE(names));
	ui_session_follow(answer->session);
	model = calls_hold(&answer->session->calls);
	if (model)
		r = model_add_up(&self, model);
	json_list(answer->json, "metrics");
	for (size_t i = 0; i < self.metric_count; i++)
		metric_write(answer->json, model, &model->windows.metrics[i]);
	json_list_end(answer->json);
	json_number(answer->json, "step_ns", self.step_ns);
	json_number(answer->json, "left_out",
		    model ? model->windows.metric_count - self.metric_count : 0);
	if (model)
		calls_release(&answer->session->calls);
	return r;
}
