/*
 * How often a device counts something: aqlprofile knows of each event in which dimensions it is
 * counted, and an expression makes fewer of them.
 */
#pragma once

#include "shared/counters/dimension.h"
#include "target/amd/aqlprofile.h"
#include "target/sdk/counters/store.h"

/* By dimension, 0: it has not; all 0: one value. */
struct counter_extents {
	uint32_t sizes[CATALOG_DIMENSIONS];
};

/* False: aqlprofile does not know the event. */
bool extents_of(const struct catalog *catalog, uint64_t id, struct counter_extents *ret);

/* aqlprofile's handle of a device, which it is asked for once; NULL: there is no such library, or
 * it does not know the device.  Not in one's turn, nor inside the gate: the loader may be asked. */
const struct aqlprofile *extents_library(const struct catalog *catalog,
					 const struct catalog_device *device,
					 struct pmc_agent *ret);

/* How many values that makes. */
size_t extents_count(const struct counter_extents *extents);

/* The SDK's number of a dimension. */
extern const uint8_t dimension_ids[CATALOG_DIMENSIONS];
/* As aqlprofile names it; CATALOG_DIMENSIONS: none of them. */
unsigned dimension_of_name(const char *name);
