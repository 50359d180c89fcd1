/*
 * Who counts in this process: tools of AMD's SDK, whole devices through queues of the agent's or
 * kernels in the program's queues, or limpet's tracer.  A device has one set of counters, and not
 * every driver keeps two apart.  One word, the agent's; in a forked child nobody does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CLAIM_TRACER  0x80000000u
#define CLAIM_KERNELS 0x40000000u /* the rest: how many queues of the agent's */

static inline uint32_t claim_queues(const uint32_t *claim)
{
	return __atomic_load_n(claim, __ATOMIC_SEQ_CST) & ~(CLAIM_TRACER | CLAIM_KERNELS);
}

/* Has a tool of AMD's SDK it? */
static inline bool claim_is_of_tools(const uint32_t *claim)
{
	return __atomic_load_n(claim, __ATOMIC_SEQ_CST) & ~CLAIM_TRACER;
}

/* False: the tracer has it, or kernels are counted. */
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

/* CLAIM_TRACER or CLAIM_KERNELS.  False: another has it, or there are queues. */
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
