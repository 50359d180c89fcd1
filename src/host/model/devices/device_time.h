/*
 * How devices spent their time: for each device, and for each of its queues, how long it worked,
 * how long it had nothing to do, why, and how long work waited from its launch until it began.  And
 * how much memory was allocated on it at most.
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
