/*
 * Runs in callbacks of GPU runtimes: no libc. The counter's rate follows from both clocks' values
 * now and at the begin of the session.
 */
#include "target/hooks/clock.h"

#include "shared/arch/syscall.h"
#include "target/runtime/kernel_clock.h"

#include <sys/prctl.h>
#include <time.h>

#define SHIFT     20
#define SPAN_MAX  (1LL << 40)
#define TRIES     8u
#define CLOSE_NS  2000u
#define RECENT_NS 4000000

struct moment {
	uint64_t ticks, ns;
};
uint32_t clock_is_forbidden;
static struct moment origin;

/* Reads both clocks; reads again if the thread was preempted in between. */
static struct moment read_both(void)
{
	struct moment best = { 0, 0 };
	uint64_t least = UINT64_MAX, before = kernel_clock_ns(CLOCK_BOOTTIME);

	for (unsigned i = 0; i < TRIES && least > CLOSE_NS; i++) {
		uint64_t ticks = ticks_now(), after = kernel_clock_ns(CLOCK_BOOTTIME);

		if (after - before < least) {
			least = after - before;
			best = (struct moment){ ticks, before + least / 2 };
		}
		before = after;
	}
	return best;
}

/* Threads inherit the right to read the counter from their creator. */
static bool has_lost_counter(void)
{
	int mode = 0;

	return !raw2(SYS_prctl, PR_GET_TSC, &mode) && mode == PR_TSC_SIGSEGV;
}

void clock_check(void)
{
	if (has_lost_counter())
		__atomic_store_n(&clock_is_forbidden, 1, __ATOMIC_SEQ_CST);
}

void clock_start(void)
{
	clock_check();
	if (clock_may_be_read())
		origin = read_both();
}

/* Returns ticks per nanosecond, shifted by SHIFT. */
static int64_t clock_slope(const struct moment *now)
{
	uint64_t ticks = now->ticks - origin.ticks, ns = now->ns - origin.ns;

	for (; ns >> 40; ns >>= 1)
		ticks >>= 1;
	return ns ? (int64_t)((ticks << SHIFT) / ns) : 1LL << SHIFT;
}

struct clock_rate clock_now(void)
{
	struct moment now = read_both();

	return (struct clock_rate){ now.ticks, now.ns, clock_slope(&now) };
}

struct clock_rate clock_recent(struct clock_rate *kept)
{
	if (ticks_now() - kept->ticks >= (uint64_t)(RECENT_NS * kept->rate) >> SHIFT)
		*kept = clock_now();
	return *kept;
}

uint64_t clock_ticks_at(const struct clock_rate *now, uint64_t boot_ns)
{
	int64_t ago = (int64_t)(now->ns - boot_ns);

	if (ago > SPAN_MAX || ago < -SPAN_MAX)
		return now->ticks;
	return now->ticks - (uint64_t)((ago * now->rate) >> SHIFT);
}

uint64_t clock_ns_at(const struct clock_rate *now, uint64_t ticks)
{
	int64_t ago = (int64_t)(now->ticks - ticks);

	if (ago > SPAN_MAX || ago < -SPAN_MAX || !now->rate)
		return now->ns;
	return now->ns - (uint64_t)(ago * (1LL << SHIFT) / now->rate);
}
