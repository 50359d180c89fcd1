/*
 * When to record: wait, record, repeat.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct period {
	uint64_t delay_ns, time_ns; /* UINT64_MAX: without end */
	uint64_t repeat;            /* 0: for ever */
};

/* Starts at once, never ends, runs once. */
#define PERIOD_ALWAYS ((struct period){ .time_ns = UINT64_MAX, .repeat = 1 })
