/*
 * Passing recorded tables on to a profiler.
 */
#pragma once

#include "compat/register/registry.h"
#include "compat/register/sdk.h"

/* Which registrations to pass. */
enum handover {
	HANDOVER_NEW,       /* those that no profiler has been offered */
	HANDOVER_REMAINING, /* also those that were refused */
	HANDOVER_ALL,       /* also those that were taken */
};

/* Offers them to `take` one by one, in order, holding nothing: it may register more.  The number
 * of refusals. */
typedef int handover_function(const struct registration *registration, void *data);
unsigned handover(enum handover which, handover_function *take, void *data);

/* Offers them to the profiler. */
unsigned handover_to(enum handover which, const struct sdk *sdk);
