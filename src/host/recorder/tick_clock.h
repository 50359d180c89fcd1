/*
 * Ticks of the machine's counter from CLOCK_MONOTONIC, for what the kernel tells the times of, and
 * back.
 */
#pragma once

#include "host/recording/recording.h"

struct tick_clock {
	struct clock_point first, latest;
	double ticks_a_ns;
};

void tick_clock_begin(struct tick_clock *ret);
/* Now and then: the rate is measured from the first time on, and offsets from the latest. */
void tick_clock_look(struct tick_clock *clock);
/* The other way round. */
uint64_t tick_clock_ns(const struct tick_clock *clock, uint64_t ticks);
uint64_t tick_clock_ticks(const struct tick_clock *clock, uint64_t monotonic_ns);
