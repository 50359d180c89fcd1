/*
 * Counters over time in rocpd, where AMD's has samples of tracks: a track for each metric, an event
 * for each window at its end, with its value.  None of them is a dispatch's.
 */
#include "host/export/amd/rocpd/rocpd_parts.h"

#include "host/model/windows/windows.h"

#include <inttypes.h>
#include <stdlib.h>

/* Behind all counters of kernels. */
#define WINDOW_PMC_FIRST 0x80000000u

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

static int put_pmc(struct rocpd *self, const struct model_metric *metric)
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

static int find_track(struct window_rows *rows, const struct model_metric *metric)
{
	struct rocpd *self = rows->self;
	int64_t *track = &rows->tracks[metric->number], name = 0;
	int r = 0;

	if (*track)
		return 0;
	*track = ++self->track_count;
	r = put_pmc(self, metric);
	if (!r)
		r = rocpd_string(self, metric->name, &name);
	return r ? r
		 : rocpd_put(self, INSERT_TRACK,
			     (struct rocpd_cell[]){ NUMBER(*track), NUMBER(self->node),
						    NUMBER(process_id(process_of(self, metric))),
						    NOTHING, NUMBER(name) });
}

static int put_event(struct rocpd *self, const struct window *window)
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
	r = find_track(rows, metric);
	if (!r)
		r = put_event(self, window);
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
