/*
 * --collection-period DELAY:TIME:REPEAT ...: when to record.
 */
#pragma once

#include "host/core/err.h"

struct period {
	uint64_t delay_ns, time_ns; /* UINT64_MAX: without end */
	uint64_t repeat;            /* 0: for ever */
};

struct periods {
	struct period *items;
	size_t count;
};

/* Without texts: at once, without end, once.  unit: "hour", "min", "sec", "msec", "usec", "nsec";
 * NULL: sec. */
int periods_parse(struct periods *ret, const char *const *texts, size_t count, const char *unit,
		  struct err *err) MUST_CHECK;
void periods_done(struct periods *periods);
