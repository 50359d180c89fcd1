/*
 * Ratios of counts: processors in use, instructions per cycle, shares of misses, rates.
 */
#pragma once

#include "host/counters/count.h"

struct counter_metric {
	double value;
	const char *unit; /* "CPUs utilized", "per cycle", "% of branches"; NULL: there is none */
};

/* counts: one for each event.  span_ns: how long was counted by the clock on the wall. */
struct counter_metric counter_metric_find(const struct counter_events *events,
					  const struct count *counts, size_t index,
					  uint64_t span_ns);
