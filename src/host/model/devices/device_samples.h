/*
 * Samples next to the work of devices: the program's lines at which kernels were launched, and the
 * activity of threads while a device was idle.  Samples are moments: only launches during a sample
 * yield a line.
 */
#pragma once

#include "host/core/rows.h"
#include "host/model/model.h"

/* So many moments of threads that ran had one thing in common. */
struct sampled_row {
	const struct model_process *process;
	char *kernel;                      /* the launched kernel; NULL: the device was idle */
	uint64_t device;                   /* that was */
	const struct model_thread *thread; /* that ran then; NULL of a launch */
	uint32_t location;                 /* of the samples; LOCATION_NONE */
	uint64_t count;
};

#define LOCATION_NONE UINT32_MAX

/* Starts as zeros. */
struct device_samples {
	struct model *model;
	struct moment *moments; /* by their time */
	size_t moment_count, moment_room;
	struct table
		launches;     /* (process, correlation): stack and one, of launches with a sample */
	struct table devices; /* (process, device): end of its last work */
	struct sampled_row *rows;
	uint32_t count;
	/* Of launches (hash of the kernel's name, process and location), of idle devices (process
	 * and device, thread and location). */
	struct row_index by_key;
};

/* 0 or -ENOMEM, all three. */
int device_samples_init(struct device_samples *self, struct model *model) MUST_CHECK;
/* In the order of their beginnings. */
int device_samples_add(struct device_samples *self, const struct call *call) MUST_CHECK;
/* Launches by kernel, idle times by device, each with the most first. */
void device_samples_sort(struct device_samples *self);
void device_samples_done(struct device_samples *self);

/* "step (torch_loop.py:30)"; "" for LOCATION_NONE. */
const char *sampled_row_place(const struct device_samples *self, const struct sampled_row *row,
			      char *ret, size_t room);
