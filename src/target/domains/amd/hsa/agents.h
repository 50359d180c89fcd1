/*
 * The devices that HSA knows, and which memory pools belong to which.
 */
#pragma once

#include "target/hooks/writer.h"

/* Queries the runtime, until it has answered once a session. On limpet's threads, holding no lock,
 * because the runtime is called. */
void agents_ask(const uint64_t *core, unsigned core_count, const uint64_t *amd_ext,
		unsigned amd_count);

/* True if it has answered in this session. */
bool agents_are_known(void);
/* The runtime was shut down: the next one has other agents. */
void agents_forget(void);

/* The number of a pool's or region's device, or DEVICE_UNKNOWN. */
uint64_t agents_of_pool(uint64_t pool);

/* Writes the name of a device. */
void agents_name(struct writer *writer, uint64_t device);

/* The number of an agent, or DEVICE_UNKNOWN. */
uint64_t agents_of_agent(uint64_t agent);

/* The agent of a node, or 0. */
uint64_t agents_agent_of(uint64_t node);
/* A pool of the host's memory that fits, or 0. */
uint64_t agents_host_pool(bool (*fits)(uint64_t pool));

/* The only agent that is not the host; 0 if there are none or several. */
uint64_t agents_only_device(void);

/* Visits every agent that is not the host. */
void agents_each_device(void (*visit)(uint64_t agent, void *data), void *data);
