/*
 * In how many positions a device counts an event: aqlprofile knows the dimensions of each event,
 * and an expression reduces them.
 */
#pragma once

#include "shared/counters/dimension.h"
#include "target/amd/counters/aqlprofile.h"
#include "target/amd/sinks/sdk/counters/store.h"

/* Size by dimension, 0: not counted in it; all 0: one value. */
struct counter_extents {
	uint32_t sizes[CATALOG_DIMENSIONS];
};

/* False: aqlprofile does not know the event. */
bool extents_of(const struct catalog *catalog, uint64_t id, struct counter_extents *ret);

/* Gets aqlprofile's handle of a device, which is registered once; NULL: the library is missing or
 * does not know the device. May enter the loader: call it outside the turns and the gate. */
const struct aqlprofile *extents_library(const struct catalog *catalog,
					 const struct catalog_device *device,
					 struct pmc_agent *ret);

/* The number of values. */
size_t extents_count(const struct counter_extents *extents);

/* The SDK's number of each dimension. */
extern const uint8_t dimension_ids[CATALOG_DIMENSIONS];
/* The dimension with aqlprofile's name; CATALOG_DIMENSIONS: none. */
unsigned dimension_of_name(const char *name);
