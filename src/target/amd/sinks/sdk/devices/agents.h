/*
 * Agents of the SDK: processors and devices, from the driver's files in sysfs and the HSA runtime.
 */
#pragma once

#include "target/amd/sinks/sdk/abi.h"

/* The SDK's handle of HSA's agent; 0: none. */
struct sdk_handle agent_of_hsa(uint64_t hsa);
/* The agent of an HSA memory pool or region; 0: unknown. */
struct sdk_handle agent_of_pool(uint64_t pool);
/* The agent of an HSA queue; 0: unknown, or agents were never requested. */
struct sdk_handle agent_of_queue(const void *queue);
/* The HSA runtime was shut down: the next has other agents and pools; the SDK's handles stay. */
void agents_forget_hsa(void);
/* The agent of a node, the number by which HIP reports devices. */
struct sdk_handle agent_of_number(uint32_t node);

/* In a forked child. */
void agents_adopt(void);
