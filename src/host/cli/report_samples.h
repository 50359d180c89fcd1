/*
 * What `limpet report` says about samples.
 */
#pragma once

#include "host/model/samples.h"

struct json;

/* For people: hot functions, threads, and who called whom when asked for.  limit: rows of a table,
 * 0: all.  0 or -ENOMEM; nothing where there are no samples. */
int report_samples_print(struct model *model, uint64_t limit, bool wants_tree) MUST_CHECK;

/* For programs: one object for each sampled_function and sampled_thread. */
int report_samples_print_json(struct model *model) MUST_CHECK;

/* Members of the summary. */
void report_samples_totals(struct json *json, const struct samples *samples);
