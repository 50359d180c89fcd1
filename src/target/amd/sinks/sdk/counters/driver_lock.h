/*
 * The driver's lock on the counters of a device, held for the target. While it is held, no other
 * profiler gets the counters. With `all_queues` the device counts waves of all queues, not only
 * those of queues with the profiling bit. AMD's library does the same. Call with the device turn
 * held (device_turn.h).
 */
#pragma once

#include "target/runtime/descriptor.h"

struct driver_lock {
	struct descriptor file; /* the driver's file, while the lock is held */
	uint32_t gpu_id;
	bool is_held;
	bool all_queues;
};

/* A status. CONTEXT_CONFLICT: another profiler has the lock; PERMISSION_DENIED: CAP_PERFMON is
 * missing; INCOMPATIBLE_KERNEL: the driver is too old, or there is none; NOT_AVAILABLE: the calling
 * thread has a seccomp filter. */
int driver_lock_acquire(struct driver_lock *lock, uint32_t node, bool all_queues);
void driver_lock_release(struct driver_lock *lock);
/* In a forked child: the parent has the lock. */
void driver_lock_adopt(struct driver_lock *lock);
