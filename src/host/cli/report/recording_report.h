/*
 * The contents of `limpet report`: everything that one pass can add up.
 */
#pragma once

#include "host/cli/report/style.h"
#include "host/core/err.h"
#include "host/export/amd/view/agents.h"
#include "host/model/calls/allocations.h"
#include "host/model/calls/call_sites.h"
#include "host/model/calls/descriptors.h"
#include "host/model/calls/locks.h"
#include "host/model/calls/markers.h"
#include "host/model/calls/summary.h"
#include "host/model/calls/syscalls.h"
#include "host/model/devices/api_errors.h"
#include "host/model/devices/device_samples.h"
#include "host/model/devices/device_time.h"
#include "host/model/devices/launches.h"
#include "host/model/devices/work.h"
#include "host/model/windows/window_summary.h"

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
	struct agents *agents; /* of each process */
};

void report_print(const struct recording_report *report, const struct report_style *style);

/* One object each for function, kernel, copy, device_memory, scratch_memory, device_time,
 * device_queue, launch_line, kernel_launch, device_idle, api_error, range, mark, allocation, file,
 * lock, call_site, syscall_error, syscall_file, thread, process and counter. */
void report_print_json(const struct recording_report *report);

/* Members of the summary: totals, drops, and how the recording ended. */
struct json;
/* Names of devices (devices.c): "GPU 0".  0 or -ENOMEM. */
int report_agents_init(struct recording_report *report) MUST_CHECK;
void report_agents_done(struct recording_report *report);
const char *report_device_name(const struct recording_report *report,
			       const struct model_process *process, uint64_t device, char *ret,
			       size_t room);
/* The time of devices, and failed calls of their runtimes (devices.c). */
void report_devices_print(const struct recording_report *report, const struct report_style *style);
void report_api_errors_print(const struct recording_report *report,
			     const struct report_style *style);
void report_devices_print_json(struct json *json, const struct recording_report *report);
/* Samples about both (device_samples.c). */
void report_device_samples_print(const struct recording_report *report,
				 const struct report_style *style);
void report_device_samples_print_json(struct json *json, const struct recording_report *report);
/* Kernels by the line that launched them (launches.c). */
void report_launches_print(const struct recording_report *report, const struct report_style *style);
void report_launches_print_json(struct json *json, const struct recording_report *report);
/* The table of counters over time (counters.c). */
void report_counters_print(const struct recording_report *report, const struct report_style *style);
void report_counters_print_json(struct json *json, const struct recording_report *report);

void report_totals_json(struct json *json, const struct recording_report *report);
