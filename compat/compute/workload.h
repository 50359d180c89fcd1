/*
 * The folder of a workload: its counts, device and metrics.
 */
#pragma once

#include "csv_table.h"
#include "definitions/formula.h"
#include "frame.h"
#include "options.h"

#define LEVELS_MAX 16u

struct workload {
	const char *folder;
	struct csv_table system;
	struct frame frame;
	struct pool blocks; /* the metrics that were chosen when it was profiled; none: all */
	bool is_rocpd;
	/* Older workloads have files of their own for counters of levels. */
	struct {
		char name[64];
		struct frame frame;
	} levels[LEVELS_MAX];
	size_t level_count;
	const char *unit; /* the divisor of metrics, "per_kernel" */
	struct formula_value *variables;
	double **variable_items;
	size_t variable_count;
};

int workload_read(struct workload *ret, const char *folder, struct err *err) MUST_CHECK;
void workload_done(struct workload *workload);

/* "" where sysinfo.csv has no such. */
const char *workload_system(const struct workload *workload, const char *name);

/* Before metrics are computed, and after rows are filtered. */
int workload_prepare(struct workload *workload, const char *unit, struct err *err) MUST_CHECK;

/* The value of an expression; NaN: none, or not understood.  level: the metric's coll_level, or
 * NULL. */
double workload_evaluate(struct workload *workload, const char *expression, const char *level);
