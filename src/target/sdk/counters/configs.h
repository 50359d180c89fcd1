/*
 * What tools want to have counted at once on one agent.
 */
#pragma once

#include "target/sdk/counters/store.h"

#define CONFIG_COUNTERS_MAX 256u
#define CONFIG_EVENTS_MAX   64u

struct counter_config {
	uint64_t handle; /* 0: free */
	const struct catalog *catalog;
	const struct catalog_device *device;
	struct sdk_handle agent;
	int32_t tool; /* whose it is, where it was made while that was configured, -1; or gone, -2
		       */
	uint32_t counter_count, event_count;
	uint16_t counters[CONFIG_COUNTERS_MAX]; /* ids */
	uint32_t events[CONFIG_EVENTS_MAX];     /* of the catalog, each once */
};

/* NULL: there is none.  It stays until it is destroyed. */
const struct counter_config *config_find(struct sdk_handle id);
/* The tool may destroy it meanwhile, and make another in its place.  False: there is none. */
bool config_copy(struct sdk_handle id, struct counter_config *ret);
/* The handle of the one that was made last for an agent, and by no other tool; 0: none. */
uint64_t config_find_newest(struct sdk_handle agent, int tool);
/* That tool is gone: what it made stays, and is nobody's. */
void configs_disown(int tool);
void configs_forget(void);
