/*
 * Blocks calls that enqueue work at their begin while CUPTI's record kinds are switched: CUPTI's
 * worker thread crashes later if a copy or a memset was being enqueued at that moment
 * (hazards.def). Application threads wait for some milliseconds on a futex, inside a driver call,
 * which also waits by futex. All calls share one deadline: application threads continue then,
 * whatever limpet's thread or signals do.
 */
#include "target/domains/cuda/cuda.h"

#include "shared/arch/syscall.h"
#include "target/runtime/kernel_clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <time.h>

#define LEAVE_STEP_NS 100000
#define LEAVE_STEPS   2000u
#define LEAVE_NS      200000000u /* limit: a call inside may wait for room in the device's queue */
#define GRACE_NS      3000000    /* for calls that began before callbacks were enabled */
#define HOLD_NS       500000000u
#define COUNT_FIRST   0x6c696d7065740000ull /* unlikely as stale contents of a mark */

static uint32_t is_shut; /* a futex */
static uint64_t held_until_ns;
static uint32_t inside; /* calls of this count that have begun and not ended */
static uint64_t count;  /* identifies this count; 0: calls are not counted */
static uint64_t last = COUNT_FIRST;

void gate_renew(void)
{
	__atomic_store_n(&inside, 0, __ATOMIC_RELAXED);
	/* Release: pairs with the acquire in gate_enter(); the count begins at 0. */
	__atomic_store_n(&count, ++last, __ATOMIC_RELEASE);
}

void gate_shut(void)
{
	uint64_t begin_ns = monotonic_ns();

	__atomic_store_n(&held_until_ns, begin_ns + HOLD_NS, __ATOMIC_RELAXED);
	/* Seq_cst, with gate_enter(): each side writes one word, then reads the other's, so one of
	 * the two sees the other's write. */
	__atomic_store_n(&is_shut, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < LEAVE_STEPS && __atomic_load_n(&inside, __ATOMIC_SEQ_CST) &&
			     monotonic_ns() - begin_ns < LEAVE_NS;
	     i++)
		sleep_ns(LEAVE_STEP_NS);
	sleep_ns(GRACE_NS);
}

void gate_open(void)
{
	__atomic_store_n(&is_shut, 0, __ATOMIC_SEQ_CST);
	raw3(SYS_futex, &is_shut, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

void gate_end(void)
{
	__atomic_store_n(&count, 0, __ATOMIC_RELEASE);
	gate_open();
}

/* Returns 0 if woken or interrupted, else -ETIMEDOUT. */
static long wait_until(uint64_t time_ns)
{
	struct timespec time = { (time_t)(time_ns / 1000000000u), (long)(time_ns % 1000000000u) };
	long r = raw6(SYS_futex, &is_shut, FUTEX_WAIT_BITSET_PRIVATE, 1, &time, 0,
		      FUTEX_BITSET_MATCH_ANY);

	return r == -EINTR || r == -EAGAIN ? 0 : r;
}

static void await_open(void)
{
	long r = 0;

	while (!r && __atomic_load_n(&is_shut, __ATOMIC_SEQ_CST))
		r = wait_until(__atomic_load_n(&held_until_ns, __ATOMIC_RELAXED));
}

void gate_enter(uint64_t *mark)
{
	uint64_t now = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

	if (!mark || !now)
		return;
	__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&is_shut, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
		await_open();
		if (__atomic_load_n(&count, __ATOMIC_ACQUIRE) != now)
			return;
		__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
	}
	*mark = now;
}

void gate_leave(const uint64_t *mark)
{
	if (mark && *mark && *mark == __atomic_load_n(&count, __ATOMIC_ACQUIRE))
		__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}
