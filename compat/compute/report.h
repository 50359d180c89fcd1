/*
 * The tables of a workload.
 */
#pragma once

#include "definitions/definitions.h"
#include "workload.h"

struct compute_report {
	struct workload *workload;
	const struct panels *panels;
	const struct texts *chosen; /* ids; none: all of the workload */
	size_t most_rows;           /* of the first two tables */
	FILE *out;
};

/* 0.1 and 0.2: kernels by their time, and their runs. */
int report_kernels(const struct compute_report *report, struct err *err) MUST_CHECK;
/* The machine, and the tables of the chosen panels. */
int report_panels(const struct compute_report *report, struct err *err) MUST_CHECK;

/* The kernels in the order of the first table; the caller frees it.  NULL: no memory. */
const char **kernels_ordered(const struct frame *frame, size_t *ret_count);
