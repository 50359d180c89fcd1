/*
 * What devices did.  How they spent their time: for each device, and for each of its queues, how
 * long it worked, how long it had nothing to do, why, and how long work waited from its launch
 * until it began; and how much memory was allocated on it at most.  Their work: time by kernel,
 * bytes and time by direction of copies and by operation on their memory.  And failed calls of GPU
 * runtimes, by function and by result.
 */
#pragma once

#include "host/core/rows.h"
#include "host/model/model.h"
#include "host/model/statistics.h"

struct device_row {
	const struct model_process *process;
	uint64_t device, queue;
	bool is_queue; /* else all of the device */
	uint64_t work; /* kernels and copies */
	uint64_t first_ns, last_ns;
	uint64_t busy_ns;           /* at least one of them was under way */
	struct statistics gaps;     /* between two, when none was */
	uint64_t not_launched_ns;   /* of those: the next work was not launched yet */
	uint64_t launched_ns;       /* of those: it was launched */
	struct statistics delay;    /* from the launch until it began */
	uint64_t bytes, peak_bytes; /* allocated since the recording began; of a device */
};

/* Starts as zeros. */
struct device_time {
	struct device_row *rows;
	uint32_t count;
	struct row_index by_queue; /* (process and device, queue and one; 0: all) */
	struct table blocks;       /* (process, address): bytes, device */
};

/* In the order of their beginnings.  0 or -ENOMEM. */
int device_time_add(struct device_time *self, const struct call *call) MUST_CHECK;
/* By process and device, queues behind their device. */
void device_time_sort(struct device_time *self);
void device_time_done(struct device_time *self);

struct work_row {
	unsigned domain;
	char *name;
	const struct model_process *process;
	uint64_t device; /* as recorded: of a copy, the target */
	uint64_t owner;  /* the device that does it, see call_device() */
	uint64_t bytes;  /* not of kernels */
	struct statistics statistics;
};

/* Starts as zeros. */
struct work {
	struct work_row *rows;
	uint32_t count;
	struct row_index by_name;                  /* (process and device, domain and name) */
	struct statistics domains[DOMAIN_NUMBERS]; /* only those of devices */
};

/* Ignores calls of the application.  0 or -ENOMEM. */
int work_add(struct work *work, const struct call *call) MUST_CHECK;
/* By domain, then by time. */
void work_sort(struct work *work);
void work_done(struct work *work);

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
