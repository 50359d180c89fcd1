/*
 * The work of devices: time by kernel, bytes and time by direction of copies and by operation on
 * their memory, for each device.
 */
#pragma once

#include "host/core/rows.h"
#include "host/model/model.h"
#include "host/model/statistics.h"

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
