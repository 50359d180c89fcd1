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

/* The runtime is shut down, and its signals are no more. */
void standin_hsa_die(void);
