/*
 * AMD's devices of this machine, as the driver tells of them in /sys: also while no process uses
 * them.
 */
#pragma once

#include "host/counters/amd/plan.h"

#define COUNTER_DEVICES_MAX 64u

struct counter_devices {
	struct counter_device items[COUNTER_DEVICES_MAX];
	char *texts[COUNTER_DEVICES_MAX]; /* their properties */
	size_t count;
	size_t beyond; /* further ones, that are not in it */
	bool is_model; /* HSA_MODEL_TOPOLOGY names them: no driver has them */
};

/* In the folder that HSA_MODEL_TOPOLOGY names, which has nodes/ in it; else the driver's own.
 * -ENOENT: there is no such device. */
int counter_devices_read(struct counter_devices *ret, struct err *err) MUST_CHECK;
void counter_devices_done(struct counter_devices *devices);

/* Of a device's properties, lines "name number" as the driver has them, or "name=number" as
 * recordings do; 0: not told. */
uint64_t counter_property(const char *properties, const char *name);
