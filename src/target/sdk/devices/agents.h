/*
 * Processors and devices, as the driver's files in sysfs and the HSA runtime tell of them.
 */
#pragma once

#include "target/sdk/abi.h"

/* The SDK's handle of the agent that HSA knows by that one, 0: none. */
struct sdk_handle agent_of_hsa(uint64_t hsa);
/* The agent that a memory pool or region of HSA's belongs to, 0: not known. */
struct sdk_handle agent_of_pool(uint64_t pool);
/* The agent that a queue of HSA's belongs to, 0: not known, or nobody has asked for agents. */
struct sdk_handle agent_of_queue(const void *queue);
/* The HSA runtime was shut down: the next one has other agents and pools.  Ours stay. */
void agents_forget_hsa(void);
/* The agent of a node, as HIP's reports number devices. */
struct sdk_handle agent_of_number(uint32_t node);

/* In a forked child. */
void agents_adopt(void);
