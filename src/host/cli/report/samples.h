/*
 * The part of `limpet report` about samples.
 */
#pragma once

#include "host/cli/report/style.h"
#include "host/model/samples/samples.h"

struct json;

/* For people: hot functions, threads, and the call tree if wanted.  0 or -ENOMEM; prints nothing
 * if there are no samples. */
int report_samples_print(struct model *model, const struct report_style *style,
			 bool wants_tree) MUST_CHECK;

/* For programs: one object for each sampled_function, sampled_process and sampled_thread. */
int report_samples_print_json(struct model *model) MUST_CHECK;

/* Were waits recorded, too? */
bool report_has_waits(const struct samples *samples);

/* The activity of each process, if there are several: a table for people, one object
 * sampled_process each for programs. */
int report_processes_print(struct model *model, const struct report_style *style) MUST_CHECK;
int report_processes_print_json(struct model *model, struct json *json) MUST_CHECK;

/* How long all threads together were in which state; for people where waits were recorded too, one
 * object sampled_state each for programs. */
int report_states_print(struct model *model, const struct report_style *style) MUST_CHECK;
int report_states_print_json(struct model *model, struct json *json) MUST_CHECK;

/* Members of the summary. */
void report_samples_totals(struct json *json, const struct samples *samples);
