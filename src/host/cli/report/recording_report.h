/*
 * What `limpet report` shows: everything about a recording that can be added up in one pass.
 */
#pragma once

#include "host/core/err.h"
#include "host/model/calls/allocations.h"
#include "host/model/calls/descriptors.h"
#include "host/model/calls/locks.h"
#include "host/model/calls/markers.h"
#include "host/model/calls/summary.h"
#include "host/model/calls/syscalls.h"
#include "host/model/calls/work.h"

struct recording_report {
	struct model *model;
	struct summary summary;
	struct allocations allocations;
	struct descriptors descriptors;
	struct locks locks;
	struct markers markers;
	struct work work;
	struct syscalls syscalls;
};

/* How it is written on paper. */
struct report_style {
	const char *unit; /* "msec" */
	uint64_t unit_ns;
	uint64_t limit; /* rows of each table, 0: all */
};

void report_print(const struct recording_report *report, const struct report_style *style);

/* One object each for function, kernel, copy, device_memory, scratch_memory, range, mark, site,
 * file, lock, syscall_error, syscall_file, thread and process. */
void report_print_json(const struct recording_report *report);

/* Members of the summary: totals, drops, and how the recording ended. */
struct json;
void report_totals_json(struct json *json, const struct recording_report *report);
