/*
 * `limpet report` about the states of threads: how long they ran, were runnable, and waited,
 * all of them together.
 */
#include <inttypes.h>
#include <stdio.h>

#include "host/cli/report/samples.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"
#include "host/model/samples/samples.h"
#include "host/model/statistics.h"
#include "host/process/threads.h"

/* States are letters of /proc. */
#define STATES 128u

struct state_row {
	uint64_t samples, time_ns;
};

struct states {
	struct state_row rows[SAMPLE_KINDS][STATES];
	uint64_t time_ns;
};

static int report_states_add(const struct sample_event *event, void *context)
{
	struct states *self = context;
	unsigned state = event->kind == SAMPLE_BLOCKED ? (unsigned char)event->state % STATES : 0;
	struct state_row *row = &self->rows[event->kind][state];

	row->samples++;
	row->time_ns += event->weight_ns;
	self->time_ns += event->weight_ns;
	return 0;
}

/* runnable: the name of that state; in JSON it has another one since 0.1.0. */
static const char *name_of(unsigned kind, unsigned state, const char *runnable)
{
	if (kind != SAMPLE_BLOCKED)
		return kind == SAMPLE_RUNNING ? "running" : runnable;
	return thread_state_name((char)state);
}

static void print_row(const struct states *states, const char *name, const struct state_row *row,
		      const struct report_style *style)
{
	print(stdout, "%8.2f %12.3f %9" PRIu64 "  %s\n",
	      (double)share_of(row->time_ns, states->time_ns) / 100,
	      time_in_unit(row->time_ns, style), row->samples, name);
}

static void write_row(struct json *json, const char *name, const struct state_row *row)
{
	json_object(json, NULL);
	json_text(json, "event", "sampled_state");
	json_text(json, "state", name);
	json_number(json, "samples", row->samples);
	json_number(json, "time_ns", row->time_ns);
	json_object_end(json);
}

/* json: NULL for people; style: NULL for programs. */
static void each_row(const struct states *states, const struct report_style *style,
		     struct json *json)
{
	for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
		for (unsigned state = 0; state < STATES; state++) {
			const struct state_row *row = &states->rows[kind][state];

			if (row->samples && json)
				write_row(json, name_of(kind, state, "wants a processor"), row);
			else if (row->samples)
				print_row(states, name_of(kind, state, "runnable"), row, style);
		}
}

int report_states_print(struct model *model, const struct report_style *style)
{
	struct states states = { 0 };
	int r = model_each_sample(model, report_states_add, &states);

	if (r || !report_has_waits(model->samples))
		return r;
	print(stdout, "\nstates: time of all threads\n%8s %12s %9s  %s\n", "%", style->unit,
	      "SAMPLES", "STATE");
	each_row(&states, style, /* json */ NULL);
	return 0;
}

int report_states_print_json(struct model *model, struct json *json)
{
	struct states states = { 0 };
	int r = model_each_sample(model, report_states_add, &states);

	if (!r)
		each_row(&states, /* style */ NULL, json);
	return r;
}
