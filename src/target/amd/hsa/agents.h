/*
 * The agents that HSA knows, and which memory pools belong to which. A device's number is that of
 * its node in the driver's topology, as in HIP's reports; node 0 is the host.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define AGENT_LETTERS 64u

struct hsa_agent {
	uint64_t handle;
	uint32_t node, kind; /* kind: 0 processors, 1 GPUs */
	char name[AGENT_LETTERS + 1], vendor[AGENT_LETTERS + 1], product[AGENT_LETTERS + 1];
};

/* Queries the runtime, until it has answered once in its life. On any thread that may call the
 * runtime, holding no lock. True: it has answered. */
bool agents_ask(void);
bool agents_are_known(void);
/* The runtime was shut down: the next one has other agents. */
void agents_forget(void);
/* In a forked child. */
void agents_adopt(void);

/* By index, from 0 on; NULL: there are no more. */
const struct hsa_agent *agent_at(unsigned index);
/* The number of an agent's device, or of a pool's or region's; DEVICE_NONE: unknown. */
uint64_t agent_device(uint64_t agent);
uint64_t agent_device_of_pool(uint64_t pool);
/* The agent of a device; 0: none. */
uint64_t agent_of_device(uint64_t device);
/* The agent of a queue, or the only device there is; 0: unknown. Calls the runtime. */
struct hsa_queue;
uint64_t agent_of_queue(const struct hsa_queue *queue);
