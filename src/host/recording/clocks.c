/*
 * The machine's counter beside the kernel's clocks.
 */
#include <time.h>

#include "host/core/clock.h"
#include "host/recording/recording.h"
#include "shared/arch/ticks.h"

#define TRIES 5

/* Returns the ticks that the reading took. */
static uint64_t read_all(struct clock_point *ret)
{
	uint64_t before = ticks_now(), after;

	ret->boot_ns = clock_read_ns(CLOCK_BOOTTIME);
	ret->raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	ret->monotonic_ns = clock_read_ns(CLOCK_MONOTONIC);
	ret->real_ns = clock_read_ns(CLOCK_REALTIME);
	after = ticks_now();
	ret->ticks = before + (after - before) / 2;
	ret->stated_hz = ticks_stated_hz();
	return after - before;
}

void clock_now(struct clock_point *ret)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < TRIES; i++) {
		struct clock_point point;
		uint64_t took = read_all(&point);

		if (took >= best)
			continue;
		best = took;
		*ret = point;
	}
}
