/*
 * Two counters, which the waiting thread alternates: it need not find a moment without visits.
 */
#include "target/amd/sinks/sdk/counters/dispatch/visits.h"

#include "target/runtime/patience.h"

#define GLANCE_NS 50000u

static uint32_t visiting[2], turn;

unsigned visit_begin(void)
{
	unsigned which = __atomic_load_n(&turn, __ATOMIC_SEQ_CST) & 1;

	/* Sequential: pairs with visits_await(); a change is stored before visits are checked. */
	__atomic_fetch_add(&visiting[which], 1, __ATOMIC_SEQ_CST);
	return which + 1;
}

void visit_end(unsigned visit)
{
	__atomic_fetch_sub(&visiting[visit - 1], 1, __ATOMIC_SEQ_CST);
}

static bool visits_are_over(unsigned which, uint64_t limit_ns)
{
	struct patience patience = { 0, 0 };

	while (__atomic_load_n(&visiting[which], __ATOMIC_SEQ_CST))
		if (!patience_pause(&patience, GLANCE_NS, limit_ns))
			return false;
	return true;
}

/* Twice: a thread may have read `turn`, and count itself later. */
bool visits_await(uint64_t limit_ns)
{
	for (unsigned i = 0; i < 2; i++)
		if (!visits_are_over(__atomic_fetch_add(&turn, 1, __ATOMIC_SEQ_CST) & 1, limit_ns))
			return false;
	return true;
}

void visits_adopt(void)
{
	visiting[0] = visiting[1] = 0;
}
