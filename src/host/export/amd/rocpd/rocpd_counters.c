/*
 * Counters in rocpd: each counter of kernels once, and a row for each place where it was counted;
 * then counters over time, where AMD's has samples of tracks: a track for each metric, an event for
 * each window at its end, with its value.  None of these is a dispatch's.
 */
#include "host/export/amd/rocpd/rocpd_parts.h"

#include "host/model/windows/windows.h"

#include <inttypes.h>
#include <stdlib.h>

/* Behind all counters of kernels. */
#define WINDOW_PMC_FIRST 0x80000000u

struct counter_rows {
	struct rocpd *self;
	const struct amd_event *event;
};

static int put_pmc(struct rocpd *self, const struct amd_event *event,
		   const struct recorded_counter *counter, int64_t id)
{
	const struct model_process *process = event->call->process;
	int is_new = rocpd_learn(self, KNOWN_PMC, id);

	if (is_new <= 0)
		return is_new;
	return rocpd_put(
		self, INSERT_PMC,
		(struct rocpd_cell[]){ NUMBER(id), NUMBER(self->node), NUMBER(process_id(process)),
				       NUMBER(id_of(process, event_value(event, VALUE_DEVICE))),
				       TEXT("GPU"), TEXT(counter->name), TEXT(counter->name),
				       TEXT(counter->description), TEXT("rocm"), TEXT("ABS"),
				       TEXT(counter->block), TEXT(counter->expression), NUMBER(0),
				       NUMBER(counter->block[0] ? 0 : 1) });
}

static int put_values(const struct recorded_counter *counter, const struct counter_values *values,
		      void *context)
{
	const struct counter_rows *rows = context;
	struct rocpd *self = rows->self;
	/* Of an agent: the same counter of another one is another. */
	int64_t id = id_of(rows->event->call->process,
			   (uint64_t)counter->number << 8 |
				   (event_value(rows->event, VALUE_DEVICE) & 0xff));
	int r = put_pmc(self, rows->event, counter, id);

	for (size_t i = 0; !r && i < values->count; i++)
		r = rocpd_put(self, INSERT_PMC_EVENT,
			      (struct rocpd_cell[]){ NUMBER(self->event_count), NUMBER(id),
						     REAL(values->items[i].value) });
	return r;
}

int rocpd_counters(struct rocpd *self, const struct amd_event *event)
{
	struct counter_rows rows = { self, event };

	return counted_each(&self->view->counted, event->call, put_values, &rows);
}

struct window_rows {
	struct rocpd *self;
	int64_t *tracks; /* of each metric; 0: not yet */
};

/* Metrics of the machine are written with the first process. */
static const struct model_process *process_of(const struct rocpd *self,
					      const struct model_metric *metric)
{
	if (metric->process)
		return metric->process;
	return self->view->process ? self->view->process : self->view->model->processes[0];
}

static int64_t window_pmc(const struct rocpd *self, const struct model_metric *metric)
{
	return id_of(process_of(self, metric), WINDOW_PMC_FIRST | metric->number);
}

static int put_metric_pmc(struct rocpd *self, const struct model_metric *metric)
{
	const struct model_process *process = process_of(self, metric);
	bool has_device = metric->device != METRIC_NO_DEVICE;
	uint64_t device = has_device ? metric->device : 0;
	int r = rocpd_agent(self, process, device);

	return r ? r
		 : rocpd_put(self, INSERT_PMC,
			     (struct rocpd_cell[]){
				     NUMBER(window_pmc(self, metric)), NUMBER(self->node),
				     NUMBER(process_id(process)), NUMBER(id_of(process, device)),
				     TEXT(has_device ? "GPU" : "CPU"), TEXT(metric->name),
				     TEXT(metric->name), TEXT(metric->description),
				     TEXT(metric->source),
				     TEXT(metric->form == METRIC_COUNT ? "ACCUM" : "ABS"), TEXT(""),
				     TEXT(""), NUMBER(0), NUMBER(0) });
}

static int find_metric_track(struct window_rows *rows, const struct model_metric *metric)
{
	struct rocpd *self = rows->self;
	int64_t *track = &rows->tracks[metric->number], name = 0;
	int r = 0;

	if (*track)
		return 0;
	*track = ++self->track_count;
	r = put_metric_pmc(self, metric);
	if (!r)
		r = rocpd_string(self, metric->name, &name);
	return r ? r
		 : rocpd_put(self, INSERT_TRACK,
			     (struct rocpd_cell[]){ NUMBER(*track), NUMBER(self->node),
						    NUMBER(process_id(process_of(self, metric))),
						    NOTHING, NUMBER(name) });
}

static int put_window_event(struct rocpd *self, const struct window *window)
{
	char notes[64];
	int64_t category;
	int r = rocpd_string(self, "counter-window", &category);

	snprintf(notes, sizeof(notes), "{\"begin_ns\":%" PRIu64 "}", window->begin_ns);
	return r ? r
		 : rocpd_put(self, INSERT_EVENT_WITH_NOTES,
			     (struct rocpd_cell[]){ NUMBER(++self->event_count), NUMBER(category),
						    NUMBER(0), NUMBER(0), NUMBER(0), TEXT("{}"),
						    TEXT(notes) });
}

static int put_window(const struct window *window, void *context)
{
	struct window_rows *rows = context;
	struct rocpd *self = rows->self;
	const struct model_metric *metric = window->metric;
	int r;

	if (!window->has_value ||
	    (self->view->process && metric->process && metric->process != self->view->process))
		return 0;
	r = find_metric_track(rows, metric);
	if (!r)
		r = put_window_event(self, window);
	if (!r)
		r = rocpd_put(self, INSERT_SAMPLE,
			      (struct rocpd_cell[]){ NUMBER(rows->tracks[metric->number]),
						     NUMBER(window->end_ns),
						     NUMBER(self->event_count) });
	return r ? r
		 : rocpd_put(self, INSERT_PMC_EVENT,
			     (struct rocpd_cell[]){ NUMBER(self->event_count),
						    NUMBER(window_pmc(self, metric)),
						    REAL(window->value) });
}

int rocpd_windows(struct rocpd *self)
{
	struct model *model = self->view->model;
	struct window_rows rows = { self, NULL };
	int r;

	if (!model->windows.count || !model->process_count)
		return 0;
	rows.tracks = calloc(model->windows.metric_count, sizeof(*rows.tracks));
	r = rows.tracks ? model_each_window(model, put_window, &rows) : rocpd_no_memory(self);
	free(rows.tracks);
	return r;
}
