/*
 * Runs inside application calls: one multiplication per timestamp, and a read of the kernel's clock
 * every few milliseconds.
 */
#include "target/amd/events/moments.h"

#include "shared/base/macros.h"

/* Shared by all threads; a seqlock: valid under an even version that did not change while read. */
struct rate {
	struct clock_rate clock;
	uint64_t ns_per_tick; /* shifted; saves a division per timestamp */
};

static struct {
	uint32_t version;
	struct rate rate;
} recent;

#define RECENT_TICKS (1LL << 23)
#define NEAR_TICKS   (1LL << 18)
#define CLOCK_SHIFT  20 /* of clock_rate's rate */
#define TICK_SHIFT   32

static bool rate_read(struct rate *ret)
{
	uint32_t version = __atomic_load_n(&recent.version, __ATOMIC_ACQUIRE);

	*ret = recent.rate;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return version && !(version & 1) &&
	       __atomic_load_n(&recent.version, __ATOMIC_RELAXED) == version;
}

static __attribute__((noinline)) void rate_renew(struct rate *ret)
{
	uint32_t version = __atomic_load_n(&recent.version, __ATOMIC_RELAXED) & ~1u;

	ret->clock = clock_now();
	ret->ns_per_tick = (1ull << (CLOCK_SHIFT + TICK_SHIFT)) / (uint64_t)MAX(ret->clock.rate, 1);
	if (!ret->clock.rate ||
	    !__atomic_compare_exchange_n(&recent.version, &version, version + 1, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	recent.rate = *ret;
	__atomic_store_n(&recent.version, version + 2, __ATOMIC_RELEASE);
}

/* In a forked child the writer may be missing, and the value half written. */
void moments_adopt(void)
{
	recent.version = 0;
}

static inline struct rate rate_near(uint64_t ticks)
{
	struct rate rate;

	if (!rate_read(&rate) || (int64_t)(ticks - rate.clock.ticks) > RECENT_TICKS)
		rate_renew(&rate);
	return rate;
}

/* 128 bits: counters of some processors need tens of nanoseconds per tick, and calls may last
 * long. */
static inline uint64_t ticks_convert(int64_t ticks, uint64_t ns_per_tick)
{
	return (uint64_t)((__int128)ticks * (__int128)ns_per_tick >> TICK_SHIFT);
}

static uint64_t rate_convert(const struct rate *rate, uint64_t ticks)
{
	if (!rate->clock.rate)
		return clock_ns_at(&rate->clock, ticks);
	return rate->clock.ns +
	       ticks_convert((int64_t)(ticks - rate->clock.ticks), rate->ns_per_tick);
}

uint64_t moment_ns(uint64_t ticks)
{
	struct rate rate;

	if (!clock_may_be_read())
		return ticks;
	rate = rate_near(ticks);
	return rate_convert(&rate, ticks);
}

uint64_t moment_now(void)
{
	return moment_ns(moment_ticks());
}

uint64_t moment_ticks_at(uint64_t ns)
{
	struct rate rate;

	/* Soon after the first reading the rate is known badly: times near a reading are still. */
	if (!rate_read(&rate) || (int64_t)(ticks_now() - rate.clock.ticks) > NEAR_TICKS)
		rate_renew(&rate);
	return clock_ticks_at(&rate.clock, ns);
}

static __attribute__((noinline)) struct moments moments_slowly(uint64_t begin, uint64_t end)
{
	struct moments moments = { begin, end };
	struct rate rate;

	if (clock_may_be_read()) {
		rate = rate_near(end);
		moments.begin_ns = rate_convert(&rate, begin);
		moments.end_ns = rate_convert(&rate, end);
	}
	moments.end_ns = MAX(moments.end_ns, moments.begin_ns);
	return moments;
}

/* The fast path: rate_read() and rate_convert() inlined, without a copy. */
struct moments moments_of(uint64_t begin, uint64_t end)
{
	uint32_t version = __atomic_load_n(&recent.version, __ATOMIC_ACQUIRE);
	int64_t first = (int64_t)(begin - recent.rate.clock.ticks),
		last = (int64_t)(end - recent.rate.clock.ticks);
	uint64_t ns = recent.rate.clock.ns, ns_per_tick = recent.rate.ns_per_tick;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!clock_may_be_read() || !version || version & 1 ||
	    __atomic_load_n(&recent.version, __ATOMIC_RELAXED) != version || last < first ||
	    last > RECENT_TICKS)
		return moments_slowly(begin, end);
	return (struct moments){ ns + ticks_convert(first, ns_per_tick),
				 ns + ticks_convert(last, ns_per_tick) };
}
