/*
 * STAND-IN, for tests only.  The few functions of HSA that the stand-in libhsa-runtime64.so.2
 * exports.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hsa_signal {
	uint64_t handle;
};

int hsa_init(void);
int hsa_shut_down(void);
int hsa_signal_create(int64_t value, uint32_t consumer_count, const void *consumers,
		      struct hsa_signal *ret);
int64_t hsa_signal_load_relaxed(struct hsa_signal signal);
void hsa_signal_store_relaxed(struct hsa_signal signal, int64_t value);

/* Three agents: the host and two devices; each has one pool, with the number of the agent and one
 * hundred.  Agents and pools are structures of one word in the real one. */
int hsa_iterate_agents(int (*visit)(uint64_t agent, void *data), void *data);
int hsa_agent_get_info(uint64_t agent, uint32_t what, void *ret);
int hsa_agent_iterate_regions(uint64_t agent, int (*visit)(uint64_t region, void *data),
			      void *data);
int hsa_amd_agent_iterate_memory_pools(uint64_t agent, int (*visit)(uint64_t pool, void *data),
				       void *data);
int hsa_amd_memory_pool_allocate(uint64_t pool, size_t size, uint32_t flags, void **ret);
int hsa_amd_memory_pool_free(void *memory);
uint64_t standin_hsa_pool(uint32_t agent);

/* A kernel needs scratch memory, and gives it back: tells a tool, as the real one does. */
void standin_hsa_scratch(uint64_t queue, size_t size);

/* The tables, after hsa_init(). */
void standin_hsa_print(void);
