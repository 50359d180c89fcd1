/*
 * The driver's lock on the counters of devices: while it is held no other profiler gets it, and the
 * driver can be asked to count the waves of every queue.  It goes with us, whatever ends us.
 */
#pragma once

#include "host/counters/amd/devices.h"

enum lock_state {
	LOCK_NONE,      /* nobody has asked */
	LOCK_HELD,      /* of all devices that were asked for */
	LOCK_FORBIDDEN, /* CAP_PERFMON is missing, or /dev/kfd may not be opened */
	LOCK_UNKNOWN,   /* the driver is older than it, or there is none: the devices are a model's
			 */
};

struct device_lock {
	int fd; /* -1: none */
	enum lock_state state;
	unsigned long request; /* of the driver */
	uint32_t gpu_ids[COUNTER_DEVICES_MAX];
	size_t count; /* of those that are locked */
};

#define DEVICE_LOCK_NONE ((struct device_lock){ .fd = -1 })

/*
 * Takes it for the devices of this architecture.  Where it cannot be had, that is no error, and
 * state says why; -EBUSY with EXIT_BUSY: another profiler has it.
 */
int device_lock_take(struct device_lock *ret, const struct counter_devices *devices,
		     const char *architecture, bool all_queues, struct err *err) MUST_CHECK;
void device_lock_release(struct device_lock *lock);
