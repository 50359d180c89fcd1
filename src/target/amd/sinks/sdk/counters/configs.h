/*
 * Counter configs: sets of counters that a tool wants to count together on one agent.
 */
#pragma once

#include "target/amd/sinks/sdk/counters/store.h"

#define CONFIG_COUNTERS_MAX 256u
#define CONFIG_EVENTS_MAX   64u

struct counter_config {
	uint64_t handle; /* 0: free */
	const struct catalog *catalog;
	const struct catalog_device *device;
	struct sdk_handle agent;
	int32_t tool; /* the tool configured when it was made; none: -1; forgotten: -2 */
	uint32_t counter_count, event_count;
	uint16_t counters[CONFIG_COUNTERS_MAX]; /* ids */
	uint32_t events[CONFIG_EVENTS_MAX];     /* indices in the catalog, without repeats */
};

/* NULL: no such config. It stays until it is destroyed. */
const struct counter_config *config_find(struct sdk_handle id);
/* Copies a config, which its tool may destroy and replace meanwhile. False: no such config. */
bool config_copy(struct sdk_handle id, struct counter_config *ret);
/* The newest config of an agent that no other tool owns; 0: none. */
uint64_t config_find_newest(struct sdk_handle agent, int tool);
/* The tool was forgotten: its configs stay, without owner. */
void configs_disown(int tool);
void configs_forget(void);
