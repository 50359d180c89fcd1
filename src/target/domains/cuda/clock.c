/*
 * Converts CUPTI's times. CUPTI has its own clock, mostly CLOCK_REALTIME. Its distance from
 * CLOCK_BOOTTIME is measured repeatedly, because CLOCK_REALTIME may be set.
 */
#include "target/domains/cuda/cuda.h"

#include "target/runtime/kernel_clock.h"

#define TRIES    8u
#define CLOSE_NS 300u

static int64_t offset_ns; /* CUPTI's clock minus CLOCK_BOOTTIME */

void cuda_clock_set(const struct cupti *cupti)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < TRIES && least > CLOSE_NS; i++) {
		uint64_t before = kernel_clock_ns(CLOCK_BOOTTIME), theirs = 0, after;

		if (cupti->timestamp(&theirs))
			return;
		after = kernel_clock_ns(CLOCK_BOOTTIME);
		if (after - before >= least)
			continue;
		least = after - before;
		__atomic_store_n(&offset_ns, (int64_t)(theirs - (before + least / 2)),
				 __ATOMIC_RELAXED);
	}
}

uint64_t cuda_clock_ticks(const struct clock_rate *now, uint64_t cupti_ns)
{
	return clock_ticks_at(now,
			      cupti_ns - (uint64_t)__atomic_load_n(&offset_ns, __ATOMIC_RELAXED));
}
