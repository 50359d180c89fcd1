/*
 * Which calls of API tables lead to limpet, and who sees them: the ring, tools, or handlers of the
 * engine itself.
 */
#pragma once

#include "target/amd/events/events.h"

struct call_slot;

/* Called once, before a tool or the tracer is attached. */
void policy_start(void);

/* The attached tools (bits), whose contexts may be started. Takes effect with intercept_install().
 */
void policy_use_tools(uint32_t tools);

/* Domains (bits) whose calls the ring records, and those of device work that it wants; 0: none. A
 * function's calls are recorded once `announce` has accepted it. */
struct policy_ring {
	uint32_t domains;
	/* On limpet's threads. False: the ring has no room for the function. */
	bool (*announce)(const struct call_slot *slot);
};
void policy_use_ring(const struct policy_ring *ring);
/* Announces functions that now lead to limpet; returns how many entries have come to do so. */
struct intercept_counts;
uint32_t policy_announce(struct intercept_counts *counts);

/* HIP reports all device work itself: the ring then wants no packets for kernels and copies. */
bool policy_has_hip(void);
