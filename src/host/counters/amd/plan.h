/*
 * What a device of one architecture has to count for the requested counters, and whether it can
 * count that at once.  All of it is known before a process is touched.
 */
#pragma once

#include "host/counters/amd/definitions.h"
#include "host/counters/amd/expression.h"

#define PLAN_EVENTS_MAX   64u
#define PLAN_COUNTERS_MAX 64u
#define PLAN_PASSES_MAX   16u
#define EXPANDED_MAX      ((size_t)64 << 10)

/* An event of a block of the device. */
struct planned_event {
	const char *name; /* of its counter */
	const char *block;
	uint32_t event;
	uint32_t flags; /* enum accumulation */
	unsigned pass;  /* in which it fits, from 0 */
};

struct planned_counter {
	const struct amd_counter *definition;
	char *expanded; /* its expression, of names of events and numbers only */
};

struct counter_plan {
	char architecture[32];
	struct planned_event events[PLAN_EVENTS_MAX];
	size_t event_count;
	struct planned_counter counters[PLAN_COUNTERS_MAX];
	size_t counter_count;
	unsigned passes;
	char unknown[256]; /* names that this architecture has not, with blanks between */
};

/* A device's property from the driver; false: unknown.  Lines "name number", or "name=number". */
bool device_property_find(const char *properties, struct text name, uint64_t *ret);

/* The facts of a device, besides its architecture. */
struct counter_device {
	unsigned node;
	uint32_t gpu_id; /* the driver's; 0: unknown */
	char architecture[32];
	const char *properties; /* lines "name number", as its driver has them */
};

/* All devices, and the one for whose architecture the plan is. */
struct plan_devices {
	const struct counter_device *items;
	size_t count, index;
};

/*
 * Plans.  Undefined names are noted, as by AMD's tool, and refused if none is left.  -ENOENT: the
 * architecture, or all of the counters, are unknown; -EINVAL: a definition is invalid.  All with
 * EXIT_USAGE.
 */
int counter_plan_make(struct counter_plan *ret, const struct amd_counters *definitions,
		      const struct plan_devices *devices, const char *const *names, size_t count,
		      struct err *err) MUST_CHECK;
void counter_plan_done(struct counter_plan *plan);

/* -E2BIG names the counters beyond one pass, and how many fit. */
int counter_plan_check(const struct counter_plan *plan, struct err *err) MUST_CHECK;

/* How many counters a block has; 0: not known here. */
unsigned block_counters(const char *architecture, const char *block);
