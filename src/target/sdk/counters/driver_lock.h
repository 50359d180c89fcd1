/*
 * The driver's lock on the counters of a device, in the name of the program: while it is held no
 * other profiler gets them; and, where that is wanted, waves of all queues are counted, not only
 * those of queues that say so themselves.  AMD's own library does the same.  In one's turn
 * (device_turn.h).
 */
#pragma once

#include "target/runtime/descriptor.h"

struct driver_lock {
	struct descriptor file; /* of the driver, while it is held */
	uint32_t gpu_id;
	bool is_held;
	bool all_queues;
};

/* A status.  CONTEXT_CONFLICT: another profiler has it; PERMISSION_DENIED: CAP_PERFMON is missing;
 * INCOMPATIBLE_KERNEL: the driver is older than it, or there is none; NOT_AVAILABLE: the calling
 * thread has a filter of system calls. */
int driver_lock_take(struct driver_lock *lock, uint32_t node, bool all_queues);
void driver_lock_release(struct driver_lock *lock);
/* In a forked child: it is the parent's. */
void driver_lock_adopt(struct driver_lock *lock);
