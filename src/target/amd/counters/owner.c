/*
 * One word, changed by any thread.
 */
#include "target/amd/counters/owner.h"

static uint32_t owner;

uint32_t owner_queues(void)
{
	return __atomic_load_n(&owner, __ATOMIC_SEQ_CST) & ~(OWNER_TRACER | OWNER_KERNELS);
}

bool owner_is_tool(void)
{
	return __atomic_load_n(&owner, __ATOMIC_SEQ_CST) & ~OWNER_TRACER;
}

bool owner_add_queue(void)
{
	uint32_t now = __atomic_load_n(&owner, __ATOMIC_SEQ_CST);

	do {
		if (now & (OWNER_TRACER | OWNER_KERNELS))
			return false;
	} while (!__atomic_compare_exchange_n(&owner, &now, now + 1, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	return true;
}

void owner_remove_queue(void)
{
	__atomic_sub_fetch(&owner, 1, __ATOMIC_SEQ_CST);
}

bool owner_claim(uint32_t who)
{
	uint32_t none = 0;

	return __atomic_compare_exchange_n(&owner, &none, who, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST) ||
	       none == who;
}

void owner_release(uint32_t who)
{
	__atomic_and_fetch(&owner, ~who, __ATOMIC_SEQ_CST);
}

void owner_adopt(void)
{
	owner = 0;
}
