/*
 * The folder of a workload, as rocprof-compute lays it out: sysinfo.csv, pmc_perf.csv,
 * profiling_config.yaml, perfmon/pmc_perf_N.yaml, log.txt.
 */
#pragma once

#include "csv_table.h"
#include "host/core/output/output_file.h"
#include "host/counters/amd/devices.h"
#include "options.h"
#include "selection.h"

/* The counters of pass `index`, as a file for rocprofv3 -i. */
int perfmon_write(const char *folder, size_t index, const struct counter_pass *pass,
		  struct err *err) MUST_CHECK;

/* ids: the metrics, or those of a named set. */
int profiling_config_write(const char *folder, const struct compute_options *options,
			   const struct texts *ids, struct err *err) MUST_CHECK;

/* pmc_perf.csv: a row for each kernel and counter, of all passes. */
struct counter_rows {
	struct output_file file;
	size_t kernels, rows; /* that are in it */
};

int counter_rows_open(struct counter_rows *ret, const char *folder, struct err *err) MUST_CHECK;
/* Adds rocprofv3's counter_collection of one pass; kernels continue the numbers of earlier ones of
 * the same pass.  *kernels: their number in this pass. */
int counter_rows_add(struct counter_rows *rows, const char *path, size_t *kernels,
		     struct err *err) MUST_CHECK;

/* The name by which AMD's program calls it, "MI300X_A1"; else its architecture. */
void device_model(const struct counter_device *device, char *ret, size_t room);

/* The contents of sysinfo.csv about a machine and the profiled device: one line of names and one of
 * values.  Unknown numbers that AMD's analysis reads are 0, unknown texts empty. */
struct system_info {
	const char *workload, *command;
	const struct counter_device *device;
};

int system_info_write(const struct system_info *info, const char *path, struct err *err) MUST_CHECK;
