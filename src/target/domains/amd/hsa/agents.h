/*
 * The devices that HSA knows, and whose memory is whose.
 */
#pragma once

#include "target/hooks/writer.h"

/* Asks the runtime, until it has answered once a session.  On threads of ours, with no lock held:
 * the runtime is called. */
void agents_ask(const uint64_t *core, unsigned core_count, const uint64_t *amd_ext,
		unsigned amd_count);

/* Has it answered in this session? */
bool agents_are_known(void);
/* The runtime was shut down: those of the next one are others. */
void agents_forget(void);

/* The number of the device that a pool or region belongs to; DEVICE_UNKNOWN. */
uint64_t agents_of_pool(uint64_t pool);

/* Tells the host what a device is called. */
void agents_name(struct writer *writer, uint64_t device);

/* The number of an agent; DEVICE_UNKNOWN. */
uint64_t agents_of_agent(uint64_t agent);

/* The agent of a node; 0. */
uint64_t agents_agent_of(uint64_t node);
/* A pool of the host's that fits; 0. */
uint64_t agents_host_pool(bool (*fits)(uint64_t pool));

/* The agent of the one device that is not the host; 0 where there are none or several. */
uint64_t agents_only_device(void);

/* Every agent that is not the host. */
void agents_each_device(void (*visit)(uint64_t agent, void *data), void *data);
