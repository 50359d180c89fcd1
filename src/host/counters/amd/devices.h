/*
 * AMD's devices of this machine, from the driver's files in /sys: also while no process uses them;
 * and the counters that they have.
 */
#pragma once

#include "host/counters/amd/definitions.h"
#include "host/counters/amd/plan.h"

#include <stdio.h>

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

/* A device's property, from lines "name number" as the driver has them, or "name=number" as in
 * recordings; 0: unknown. */
uint64_t counter_property(const char *properties, const char *name);

/* The parameters of a device for aqlprofile. */
struct counter_shape {
	uint32_t xccs, engines, units, arrays_per_engine, domain, location;
};
struct counter_shape counter_device_shape(const struct counter_device *device);

/* Are both of the same shape, except for numbers that identify a device? */
bool counter_devices_match(const struct counter_device *one, const struct counter_device *other);

/* For every device, in the order of the file; if none is known, the reason.  0 or the reason's
 * code. */
int amd_counters_list(FILE *out, const char *folder, struct err *err);

/* The same for programs: calls for each. */
typedef void counter_visitor(unsigned node, const struct amd_counter *counter, void *context);
int amd_counters_visit(const char *folder, counter_visitor *visit, void *context, struct err *err);
