/*
 * What counts in this process: tools of AMD's SDK (whole devices by the agent's queues, or kernels
 * in application queues), or limpet's tracer. A device has one set of counters, and not every
 * driver keeps two users apart. The claim is one word in the agent; it is free in a forked child.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CLAIM_TRACER  0x80000000u
#define CLAIM_KERNELS 0x40000000u /* remaining bits: number of the agent's queues that count */

static inline uint32_t claim_queues(const uint32_t *claim)
{
	return __atomic_load_n(claim, __ATOMIC_SEQ_CST) & ~(CLAIM_TRACER | CLAIM_KERNELS);
}

/* Does a tool of AMD's SDK hold the claim? */
static inline bool claim_is_of_tools(const uint32_t *claim)
{
	return __atomic_load_n(claim, __ATOMIC_SEQ_CST) & ~CLAIM_TRACER;
}

/* False: the tracer holds the claim, or kernels are counted. */
static inline bool claim_for_queue(uint32_t *claim)
{
	uint32_t now = __atomic_load_n(claim, __ATOMIC_SEQ_CST);

	do {
		if (now & (CLAIM_TRACER | CLAIM_KERNELS))
			return false;
	} while (!__atomic_compare_exchange_n(claim, &now, now + 1, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	return true;
}

static inline void claim_leave_queue(uint32_t *claim)
{
	__atomic_sub_fetch(claim, 1, __ATOMIC_SEQ_CST);
}

/* For CLAIM_TRACER or CLAIM_KERNELS. False: the other one holds the claim, or queues count. */
static inline bool claim_for_one(uint32_t *claim, uint32_t who)
{
	uint32_t nobody = 0;

	return __atomic_compare_exchange_n(claim, &nobody, who, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST) ||
	       nobody == who;
}

static inline void claim_leave_one(uint32_t *claim, uint32_t who)
{
	__atomic_and_fetch(claim, ~who, __ATOMIC_SEQ_CST);
}
