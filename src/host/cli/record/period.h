/*
 * --collection-period DELAY:TIME:REPEAT: wait, record, and again.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>

struct period {
	uint64_t delay_ns, time_ns; /* UINT64_MAX: without end */
	uint64_t repeat;            /* 0: for ever */
	uint64_t done;
};

/* Without a text: at once, for ever, once. */
int period_parse(const char *text, struct period *ret, struct err *err) MUST_CHECK;
bool period_goes_on(const struct period *period);
