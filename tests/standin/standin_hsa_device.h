/*
 * STAND-IN, for tests only.  Queues, signals and executables of the stand-in HSA runtime: a queue
 * is a ring of packets with a thread that does them in their order.
 */
#pragma once

#include "standin.h"
#include "standin_hsa.h"

#include <stdbool.h>

/* By the index in the real tables. */
struct hsa_slot {
	unsigned slot;
	void *function;
};
extern const struct hsa_slot hsa_core_slots[], hsa_amd_slots[]; /* up to a function of NULL */

enum { HSA_CLOSED = 0x100b };
enum { AGENTS = 3, AGENT_HANDLE = 50, POOL_HANDLE = 100, HANDLES = 1000 };

/* Between hsa_init() and the last hsa_shut_down(). */
bool standin_hsa_is_open(void);

/* The runtime is shut down, and its agents, signals and executables are no more: others of the next
 * one have other handles.  Whoever uses one of before ends the program. */
void standin_hsa_die(void);
uint64_t standin_hsa_handle(uint32_t kind, uint32_t node);
uint32_t standin_hsa_node(uint32_t kind, uint64_t handle);

/* One of the calling thread's own, of the first device, that has no packets. */
const struct hsa_queue *standin_hsa_idle_queue(uint64_t id);
