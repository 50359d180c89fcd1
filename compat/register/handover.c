/*
 * Runs inside the target, on the thread that registers or attaches; the profiler is foreign code
 * and is called with no lock held.
 */
#include "compat/register/handover.h"

static const unsigned states_of[] = {
	[HANDOVER_NEW] = 1u << REGISTRATION_RECORDED,
	[HANDOVER_REMAINING] = 1u << REGISTRATION_RECORDED | 1u << REGISTRATION_REFUSED,
	[HANDOVER_ALL] = 1u << REGISTRATION_RECORDED | 1u << REGISTRATION_REFUSED |
			 1u << REGISTRATION_PASSED,
};

unsigned handover(enum handover which, handover_function *take, void *data)
{
	unsigned refusals = 0;

	/* The count is read again each time: a table's receiver may register another one. */
	for (size_t i = 0; i < registry_count(); i++) {
		struct registration *self = registry_at(i);
		bool is_taken;

		if (!self || !registration_claim(self, states_of[which]))
			continue;
		is_taken = take(self, data) == 0;
		registration_settle(self, is_taken ? REGISTRATION_PASSED : REGISTRATION_REFUSED);
		refusals += !is_taken;
	}
	return refusals;
}

static int handover_offer(const struct registration *registration, void *data)
{
	const struct sdk *sdk = data;
	/* A copy: the profiler is handed a writable array. */
	struct registration own = *registration;

	return sdk->take(own.name, own.version, own.instance, own.tables, own.count);
}

unsigned handover_to(enum handover which, const struct sdk *sdk)
{
	return handover(which, handover_offer, (void *)(uintptr_t)sdk);
}
