/*
 * `limpet report`: everything that one pass over a recording can add up, and its tables.  Each
 * table exists for people (print_), and for programs as one object for each row (write_).
 */
#pragma once

#include "host/core/text/json.h"
#include "host/export/amd/view/agents.h"
#include "host/model/calls/allocations.h"
#include "host/model/calls/call_sites.h"
#include "host/model/calls/descriptors.h"
#include "host/model/calls/locks.h"
#include "host/model/calls/markers.h"
#include "host/model/calls/summary.h"
#include "host/model/calls/syscalls.h"
#include "host/model/devices/device_samples.h"
#include "host/model/devices/device_time.h"
#include "host/model/devices/launches.h"
#include "host/model/windows/windows.h"

struct recording_report {
	struct model *model;
	struct summary summary;
	struct allocations allocations;
	struct descriptors descriptors;
	struct locks locks;
	struct call_sites sites;
	struct markers markers;
	struct work work;
	struct device_time device_time;
	struct device_samples device_samples;
	struct launch_summary launches;
	struct api_errors api_errors;
	struct syscalls syscalls;
	struct window_summary windows;
	struct agents *agents; /* of each process: the names of its devices */

	/* For people: the unit of times, "msec", and how many rows a table has, 0: all. */
	const char *unit;
	uint64_t unit_ns;
	uint64_t limit;
};

static inline double in_unit(const struct recording_report *report, double time_ns)
{
	return time_ns / (double)report->unit_ns;
}

static inline double time_in_unit(const struct recording_report *report, uint64_t time_ns)
{
	return in_unit(report, (double)time_ns);
}

/* How many of the rows are shown, and the line for the rest, behind so many blanks. */
uint32_t rows_shown(const struct recording_report *report, uint64_t count);
void print_rest(const struct recording_report *report, int indent, uint64_t count);

/* Columns and members of the statistics of calls, with their share of a time. */
void print_statistics_head(const struct recording_report *report, const char *title);
void print_statistics(const struct recording_report *report, const struct statistics *statistics,
		      uint64_t whole_ns);
void write_statistics(struct json *json, const struct statistics *statistics, uint64_t whole_ns);

/* calls.c: traced calls. */
void print_head(const struct recording_report *report);
void print_functions(const struct recording_report *report);
void print_markers(const struct recording_report *report);
void print_threads(const struct recording_report *report);
void write_processes(const struct recording_report *report);
void write_functions(const struct recording_report *report);
void write_markers(const struct recording_report *report);
void write_threads(const struct recording_report *report);

/* resources.c: what calls are about. */
void print_resources(const struct recording_report *report);
void write_resources(const struct recording_report *report);

/* devices.c: the work of devices, and counters over time. */
void print_devices(const struct recording_report *report);
void print_counters(const struct recording_report *report);
void write_devices(const struct recording_report *report);
void write_counters(const struct recording_report *report);

/* samples.c: 0 or -ENOMEM; nothing if there are no samples. */
int print_samples(const struct recording_report *report, bool wants_tree) MUST_CHECK;
int write_samples(const struct recording_report *report) MUST_CHECK;

/* sampled_threads.c: processes, if there are several, threads, and states of threads. */
int show_sampled_threads(const struct recording_report *report, bool is_json) MUST_CHECK;

/* Members of the summary: totals, drops, and how the recording ended. */
void write_call_totals(struct json *json, const struct recording_report *report);
void write_sample_totals(struct json *json, const struct samples *samples);
