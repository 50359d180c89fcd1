/*
 * Agents of the SDK: processors and devices, from the driver's files in sysfs and the HSA runtime.
 * The SDK's handles stay when the runtime is shut down.
 */
#pragma once

#include "target/amd/sinks/sdk/base/abi.h"

/* Their handles; 0: none, or unknown. By HSA's agent, memory pool or region, and queue. */
struct hsa_queue;
struct sdk_handle agent_of_hsa(uint64_t hsa);
struct sdk_handle agent_of_pool(uint64_t pool);
struct sdk_handle agent_of_hsa_queue(const struct hsa_queue *queue);
/* By the number of a device's node. */
struct sdk_handle agent_of_number(uint64_t node);

/* In a forked child. */
void tool_agents_adopt(void);
