/*
 * The driver's lock on the counters of devices: while it is held no other profiler gets it, and the
 * driver can count the waves of every queue.  The kernel releases it when limpet ends.
 */
#pragma once

#include "host/counters/amd/devices.h"

enum lock_state {
	LOCK_NONE,      /* not tried yet */
	LOCK_HELD,      /* for all requested devices */
	LOCK_FORBIDDEN, /* CAP_PERFMON is missing, or /dev/kfd may not be opened */
	LOCK_UNKNOWN,   /* the driver is older than it, or there is none: the devices are a model's
			 */
};

struct device_lock {
	int fd; /* -1: none */
	enum lock_state state;
	unsigned long request; /* of the driver */
	uint32_t gpu_ids[COUNTER_DEVICES_MAX];
	size_t count; /* of locked ones */
};

#define DEVICE_LOCK_NONE ((struct device_lock){ .fd = -1 })

/*
 * Takes the lock for the devices of this architecture.  Without the lock, this is no error, and
 * state has the reason; -EBUSY with EXIT_BUSY: another profiler has it.
 */
int device_lock_take(struct device_lock *ret, const struct counter_devices *devices,
		     const char *architecture, bool all_queues, struct err *err) MUST_CHECK;
void device_lock_release(struct device_lock *lock);
