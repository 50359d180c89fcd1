/*
 * The counters of a workload: a row for each kernel that ran, a column for each counter.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/pool.h"

#include <stdbool.h>

struct frame {
	size_t rows;
	struct pool names;    /* of columns */
	double **columns;     /* by their numbers in it; NaN: not counted */
	size_t room;          /* of columns */
	const char **kernels; /* of each row */
	struct pool texts;    /* of kernels */
};

/* Either of AMD's forms: a column for each counter, or (rocpd) a row for each. */
int frame_read(struct frame *ret, const char *path, struct err *err) MUST_CHECK;
void frame_done(struct frame *frame);

/* NULL: there is none. */
const double *frame_column(const struct frame *frame, const char *name);

/* Keeps only the rows that are chosen. */
void frame_filter(struct frame *frame,
		  bool (*is_chosen)(const struct frame *frame, size_t row, const void *context),
		  const void *context);

/* Sorts them; there is at least one. */
double median_of(double *values, size_t count);
