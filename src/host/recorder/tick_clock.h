/*
 * Converts CLOCK_MONOTONIC, in which the kernel reports times, to ticks of the machine's counter,
 * and back.
 */
#pragma once

#include "host/recording/recording.h"

struct tick_clock {
	struct clock_point first, latest;
	double ticks_a_ns;
};

void tick_clock_begin(struct tick_clock *ret);
/* Called now and then: the rate is measured from the first call on, offsets from the latest. */
void tick_clock_look(struct tick_clock *clock);
/* ns: from ticks; ticks: from ns. */
uint64_t tick_clock_ns(const struct tick_clock *clock, uint64_t ticks);
uint64_t tick_clock_ticks(const struct tick_clock *clock, uint64_t monotonic_ns);
