/*
 * Waits in a target, up to a limit: by the clock, because on a busy machine a pause takes many
 * times its length; and by the number of pauses, in case the clock is unreadable.
 */
#pragma once

#include "target/runtime/kernel_clock.h"

#include <stdbool.h>

/* The begin of the wait, and its pauses; all zero at first. */
struct patience {
	uint64_t begin_ns, glances;
};

/* Sleeps; false: the limit is reached. */
static inline bool patience_pause(struct patience *self, uint64_t glance_ns, uint64_t limit_ns)
{
	if (!self->glances++)
		self->begin_ns = monotonic_ns();
	sleep_ns((long)glance_ns);
	return monotonic_ns() - self->begin_ns < limit_ns && self->glances < limit_ns / glance_ns;
}
