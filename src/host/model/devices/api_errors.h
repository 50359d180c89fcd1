/*
 * Failed calls of GPU runtimes, by function and by result.
 */
#pragma once

#include "host/core/rows.h"
#include "host/model/model.h"

struct api_error_row {
	const struct trace_function *function;
	int32_t result;
	uint64_t calls;
};

/* Starts as zeros. */
struct api_errors {
	struct api_error_row *rows;
	uint32_t count;
	struct row_index by_result; /* (number of the function, result) */
};

/* 0 or -ENOMEM. */
int api_errors_add(struct api_errors *self, const struct call *call) MUST_CHECK;
/* Most calls first. */
void api_errors_sort(struct api_errors *self);
void api_errors_done(struct api_errors *self);

/* "CUDA_ERROR_OUT_OF_MEMORY", "ncclInternalError"; "error 4711" where it has no name. */
const char *api_error_name(const struct api_error_row *row, char buffer[32]);
