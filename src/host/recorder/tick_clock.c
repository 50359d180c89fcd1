/*
 * Converts by a line through two points.
 */
#include "host/recorder/tick_clock.h"

#define LEAST_NS 1000000u /* between both points, for a rate accurate to some millionths */

void tick_clock_begin(struct tick_clock *ret)
{
	uint64_t passed_ns;

	clock_now(&ret->first);
	do {
		clock_now(&ret->latest);
		passed_ns = ret->latest.monotonic_ns - ret->first.monotonic_ns;
	} while (passed_ns < LEAST_NS);
	tick_clock_look(ret);
}

void tick_clock_look(struct tick_clock *self)
{
	clock_now(&self->latest);
	self->ticks_a_ns = (double)(self->latest.ticks - self->first.ticks) /
			   (double)(self->latest.monotonic_ns - self->first.monotonic_ns);
}

uint64_t tick_clock_ticks(const struct tick_clock *self, uint64_t monotonic_ns)
{
	double distance_ns = (double)(int64_t)(monotonic_ns - self->latest.monotonic_ns);

	return self->latest.ticks + (uint64_t)(int64_t)(distance_ns * self->ticks_a_ns);
}

uint64_t tick_clock_ns(const struct tick_clock *self, uint64_t ticks)
{
	double distance = (double)(int64_t)(ticks - self->latest.ticks);

	return self->latest.monotonic_ns + (uint64_t)(int64_t)(distance / self->ticks_a_ns);
}
