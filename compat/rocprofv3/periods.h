/*
 * --collection-period DELAY:TIME:REPEAT ...: when to record.
 */
#pragma once

#include "host/core/err.h"
#include "host/recorder/period.h"

struct periods {
	struct period *items;
	size_t count;
};

/* Without texts: PERIOD_ALWAYS.  unit: "hour", "min", "sec", "msec", "usec", "nsec";
 * NULL: sec. */
int periods_parse(struct periods *ret, const char *const *texts, size_t count, const char *unit,
		  struct err *err) MUST_CHECK;
void periods_done(struct periods *periods);
