/*
 * Converts CLOCK_MONOTONIC, in which the kernel reports times, to ticks of the machine's counter,
 * and back: by a line through two points.
 */
#pragma once

#include "host/recording/recording.h"

struct tick_clock {
	struct clock_point first, latest;
	double ticks_a_ns;
};

/* Called now and then: the rate is measured from the first call on, offsets from the latest. */
static inline void tick_clock_update(struct tick_clock *self)
{
	clock_now(&self->latest);
	self->ticks_a_ns = (double)(self->latest.ticks - self->first.ticks) /
			   (double)(self->latest.monotonic_ns - self->first.monotonic_ns);
}

/* Takes a millisecond, for a rate accurate to some millionths. */
static inline void tick_clock_begin(struct tick_clock *ret)
{
	clock_now(&ret->first);
	do
		tick_clock_update(ret);
	while (ret->latest.monotonic_ns - ret->first.monotonic_ns < 1000000u);
}

static inline uint64_t tick_clock_ticks(const struct tick_clock *clock, uint64_t monotonic_ns)
{
	double distance_ns = (double)(int64_t)(monotonic_ns - clock->latest.monotonic_ns);

	return clock->latest.ticks + (uint64_t)(int64_t)(distance_ns * clock->ticks_a_ns);
}

static inline uint64_t tick_clock_ns(const struct tick_clock *clock, uint64_t ticks)
{
	double distance = (double)(int64_t)(ticks - clock->latest.ticks);

	return clock->latest.monotonic_ns + (uint64_t)(int64_t)(distance / clock->ticks_a_ns);
}
