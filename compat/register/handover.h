/*
 * Passing recorded tables on to a profiler.
 */
#pragma once

#include "compat/register/registry.h"
#include "compat/register/sdk.h"

/* Which registrations to pass. */
enum handover {
	HANDOVER_NEW,       /* those not offered to a profiler yet */
	HANDOVER_REMAINING, /* also refused ones */
	HANDOVER_ALL,       /* also accepted ones */
};

/* Offers them to `take` one by one, in order, without a lock: it may register more.  Returns the
 * number of refusals. */
typedef int handover_function(const struct registration *registration, void *data);
unsigned handover(enum handover which, handover_function *take, void *data);

/* Offers them to the profiler. */
unsigned handover_to(enum handover which, const struct sdk *sdk);
