/*
 * What counts in this process: limpet's tracer, kernels in application queues for a tool of AMD's
 * SDK, or queues of the agent, by which tools count whole devices. A device has one set of
 * counters, and not every driver keeps two users apart. Free in a forked child.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define OWNER_TRACER  0x80000000u
#define OWNER_KERNELS 0x40000000u /* remaining bits: number of the agent's queues that count */

/* For OWNER_TRACER or OWNER_KERNELS. False: the other one owns the counters, or queues do. */
bool owner_claim(uint32_t who);
void owner_release(uint32_t who);

/* False: the tracer owns the counters, or kernels are counted. */
bool owner_add_queue(void);
void owner_remove_queue(void);
uint32_t owner_queues(void);

/* Does a tool of AMD's SDK own the counters? */
bool owner_is_tool(void);

/* In a forked child. */
void owner_adopt(void);
