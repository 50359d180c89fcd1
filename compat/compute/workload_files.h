/*
 * The folder of a workload, as rocprof-compute lays it out: sysinfo.csv, pmc_perf.csv,
 * profiling_config.yaml, perfmon/pmc_perf_N.yaml, log.txt.
 */
#pragma once

#include "csv_table.h"
#include "host/core/output/output_file.h"
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

void csv_text_write(FILE *out, const char *text);
