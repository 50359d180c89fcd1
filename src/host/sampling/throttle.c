/*
 * Keeps the collector's processor time below its share.
 */
#include "host/sampling/throttle.h"

#include "host/core/clock.h"
#include "shared/base/macros.h"

#define JUDGED_EACH_NS 500000000u
#define SHARE          10u /* a tenth of one processor */
#define EVERY_MOST     1000u
#define SAMPLE_MOST_NS 500000u /* of one sample; the rest of the time is for other work */

bool throttle_adjust(struct throttle *throttle)
{
	uint64_t now = now_ns(), elapsed = now - throttle->begun_ns;
	uint64_t used = thread_cpu_ns() + throttle->others_ns;
	uint64_t allowed = elapsed / SHARE, spent;
	uint32_t every = MAX(throttle->every, 1u), chosen = every;

	if (throttle->begun_ns && elapsed < JUDGED_EACH_NS)
		return false;
	/* All samples would have cost `every` times as much.  When less than half of the share is
	 * used, more are kept again. */
	spent = MIN(used - throttle->used_ns, throttle->taken * SAMPLE_MOST_NS);
	if (throttle->begun_ns && spent > allowed)
		chosen = (uint32_t)MIN(every * spent / allowed + 1, EVERY_MOST);
	else if (throttle->begun_ns && spent < allowed / 2)
		chosen = MAX(every / 2, 1u);
	throttle->taken = 0;
	throttle->begun_ns = now;
	throttle->used_ns = used;
	throttle->every = chosen;
	throttle->most = MAX(throttle->most, chosen);
	return chosen != every;
}

/* At random: of threads that tick in turn, one would always be kept, the others never. */
uint32_t throttle_take(struct throttle *throttle)
{
	uint64_t drawn = throttle->drawn ? throttle->drawn : now_ns() | 1;

	if (throttle->every > 1) {
		/* The numbers need not be random, only without a rhythm (xorshift). */
		drawn ^= drawn << 13;
		drawn ^= drawn >> 7;
		drawn ^= drawn << 17;
		throttle->drawn = drawn;
		if ((drawn >> 32) % throttle->every)
			return 0;
	}
	throttle->taken++;
	return MAX(throttle->every, 1u);
}
