/*
 * Two counters, which whoever waits turns round: he need not find a moment when nobody is there.
 */
#include "target/sdk/counters/dispatch/visits.h"

#include "target/runtime/patience.h"

#define GLANCE_NS 50000u

static uint32_t visiting[2], turn;

unsigned visit_begin(void)
{
	unsigned which = __atomic_load_n(&turn, __ATOMIC_SEQ_CST) & 1;

	/* Sequential: whoever changes something says so before he looks for visits. */
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

/* Twice: a thread may have looked whose turn it is, and come in later. */
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
