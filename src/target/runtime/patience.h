/*
 * Waiting in a target, for a limited time.  By the clock, as on a busy machine a pause takes many
 * times as long as was asked for; and by the number of pauses, should there be no clock to be had.
 */
#pragma once

#include "target/runtime/kernel_clock.h"

#include <stdbool.h>

/* How long one has waited; all zero at first. */
struct patience {
	uint64_t begin_ns, glances;
};

/* Sleeps; false: the time is over. */
static inline bool patience_pause(struct patience *self, uint64_t glance_ns, uint64_t limit_ns)
{
	struct timespec pause = { 0, (long)glance_ns };

	if (!self->glances++)
		self->begin_ns = monotonic_ns();
	raw2(SYS_nanosleep, &pause, 0);
	return monotonic_ns() - self->begin_ns < limit_ns && self->glances < limit_ns / glance_ns;
}
