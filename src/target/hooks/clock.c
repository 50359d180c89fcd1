/*
 * Runs in callbacks of GPU runtimes: no libc.  Both clocks are read now and were read at the
 * beginning, which tells how fast the one goes by the other.
 */
#include "target/hooks/clock.h"

#include "shared/arch/syscall.h"
#include "shared/arch/ticks.h"

#include <time.h>

#define SHIFT    20
#define SPAN_MAX (1ll << 40)

struct moment {
	uint64_t ticks, ns;
};
static struct moment origin;

uint64_t clock_boot_ns(void)
{
	struct timespec now = { 0, 0 };

	raw2(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void clock_start(void)
{
	origin = (struct moment){ ticks_now(), clock_boot_ns() };
}

/* Ticks in a nanosecond, shifted. */
static int64_t slope(const struct moment *now)
{
	uint64_t ticks = now->ticks - origin.ticks, ns = now->ns - origin.ns;

	for (; ns >> 40; ns >>= 1)
		ticks >>= 1;
	return ns ? (int64_t)((ticks << SHIFT) / ns) : 1ll << SHIFT;
}

struct clock_rate clock_now(void)
{
	struct moment now = { ticks_now(), clock_boot_ns() };

	return (struct clock_rate){ now.ticks, now.ns, slope(&now) };
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
	return now->ns - (uint64_t)((ago << SHIFT) / now->rate);
}

uint64_t clock_ticks_of(uint64_t boot_ns)
{
	struct clock_rate now = clock_now();

	return clock_ticks_at(&now, boot_ns);
}
