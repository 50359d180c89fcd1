/*
 * HSA's functions that counting calls: those in HSA's own library. If HSA's table has another
 * tool's function instead, it is not used: its library may be unmapped at any time, and it would
 * mistake limpet's calls for the application's.
 */
#pragma once

#include "target/amd/hsa/layouts.h"

#include <stdbool.h>

typedef int hsa_visit(uint64_t handle, void *data);

struct hsa_functions {
	int (*iterate_agents)(hsa_visit *visit, void *data);
	int (*agent_info)(uint64_t agent, uint32_t what, void *ret);
	int (*queue_create)(uint64_t agent, uint32_t size, uint32_t type, void *on_fault,
			    void *data, uint32_t private_bytes, uint32_t group_bytes,
			    const struct hsa_queue **ret);
	int (*queue_destroy)(const struct hsa_queue *queue);
	uint64_t (*load_write)(const struct hsa_queue *queue);
	uint64_t (*cas_write)(const struct hsa_queue *queue, uint64_t expected, uint64_t value);
	int (*signal_create)(int64_t value, uint32_t count, const void *consumers, uint64_t *ret);
	int (*signal_destroy)(uint64_t signal);
	int64_t (*signal_load)(uint64_t signal);
	void (*signal_store)(uint64_t signal, int64_t value);
	int (*iterate_pools)(uint64_t agent, hsa_visit *visit, void *data);
	int (*pool_info)(uint64_t pool, uint32_t what, void *ret);
	int (*pool_allocate)(uint64_t pool, size_t size, uint32_t flags, void **ret);
	int (*pool_free)(void *memory);
	int (*allow_access)(uint32_t count, const uint64_t *agents, const uint32_t *flags,
			    const void *memory);
	/* These may be NULL: */
	uint64_t (*load_read)(const struct hsa_queue *queue);
	int (*queue_info)(const struct hsa_queue *queue, uint32_t what, void *ret);
};

/* A reference that keeps HSA's library mapped. */
struct agent_table;
struct hsa_library {
	void *handle; /* NULL: no reference */
	const struct agent_table *known;
	const uint64_t *entries; /* of its core table */
};
/* These functions enter the loader. False: no HSA runtime is known, or it was unmapped. Releases
 * the reference held before. */
bool hsa_library_hold(struct hsa_library *ret);
void hsa_library_leave(struct hsa_library *self);
/* A status: HSA_NOT_LOADED if a function is missing, NO_PROFILE_QUEUE if one is another tool's. */
int hsa_functions_find(const struct hsa_library *library, struct hsa_functions *ret);

/* HSA's agent of that driver node; 0: none. */
uint64_t hsa_agent_of_node(const struct hsa_functions *hsa, uint32_t node);
/* A pool of host memory that devices can read, write and execute; 0: none. */
uint64_t hsa_host_pool(const struct hsa_functions *hsa);
