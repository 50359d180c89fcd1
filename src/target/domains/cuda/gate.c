/*
 * Calls that enqueue work wait at their beginning while CUPTI's record kinds are switched: its
 * worker thread crashes later if a copy or a memset was being enqueued at that moment
 * (hazards.def). Threads of the program wait for some milliseconds, inside a call of the driver's,
 * which waits by futex itself.  Every wait has a limit: whatever the other side does, the program
 * goes on.
 */
#include "target/domains/cuda/cuda.h"

#include "shared/arch/syscall.h"

#include <linux/futex.h>
#include <time.h>

#define LEAVE_STEP_NS 100000
#define LEAVE_STEPS   2000u   /* 0.2 s: a call waits for room in the device's queue */
#define GRACE_NS      3000000 /* for calls that were entered before callbacks were enabled */
#define HOLD_STEP_NS  50000000
#define HOLD_STEPS    10u
#define COUNT_FIRST   0x6c696d7065740000ull /* unlike what a mark may hold by chance */

static uint32_t is_shut; /* a futex */
static uint32_t inside;  /* calls of this count */
static uint64_t count;   /* the number of this count; 0: calls are not counted */
static uint64_t last = COUNT_FIRST;

void gate_renew(void)
{
	__atomic_store_n(&inside, 0, __ATOMIC_RELAXED);
	/* Release: pairs with gate_enter(); the count begins at 0. */
	__atomic_store_n(&count, ++last, __ATOMIC_RELEASE);
}

void gate_shut(void)
{
	struct timespec step = { 0, LEAVE_STEP_NS }, grace = { 0, GRACE_NS };

	/* Both sides write their own word and then read the other's: one of them sees it. */
	__atomic_store_n(&is_shut, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < LEAVE_STEPS && __atomic_load_n(&inside, __ATOMIC_SEQ_CST); i++)
		raw2(SYS_nanosleep, &step, 0);
	raw2(SYS_nanosleep, &grace, 0);
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

static void await_open(void)
{
	struct timespec step = { 0, HOLD_STEP_NS };

	for (unsigned i = 0; i < HOLD_STEPS && __atomic_load_n(&is_shut, __ATOMIC_SEQ_CST); i++)
		raw4(SYS_futex, &is_shut, FUTEX_WAIT_PRIVATE, 1, &step);
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
