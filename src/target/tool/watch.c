/*
 * Sleeps until a hook of dlopen wakes it, or for a fifth of a second, because libc itself also
 * loads some libraries. Polls often while modules are being loaded.
 */
#include "target/tool/watch.h"

#include "shared/arch/syscall.h"
#include "target/hooks/thread.h"
#include "target/hooks/writer.h"
#include "target/runtime/arena.h"
#include "target/runtime/broadcast.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/mapping.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <time.h>

#define STACK_BYTES 0x100000u
#define SHORTEST_MS 1u
#define LONGEST_MS  200u
#define CONSULT_MS  300u
#define REST        3u /* times a scan's length: modules may come and go all the time */

typedef int join_function(pthread_t, void **);

static const struct boot_libc *libc;
static struct watch_calls call;
static pthread_t thread;
static void *stack;
static uint32_t orders;       /* a futex; counts orders */
static uint32_t in_hand;      /* number of orders that the thread has seen */
static uint32_t answered;     /* a futex; number of orders done */
static uint32_t is_consulted; /* a thread waits: do not rest */
static uint32_t given_up;     /* the last order that timed out */
static int32_t number;        /* the thread's ID */
static uint32_t is_over;
static uint32_t has_begun; /* a futex: the first scan is done */

void watch_hurry(void)
{
	__atomic_fetch_add(&orders, 1, __ATOMIC_RELEASE);
	raw3(SYS_futex, &orders, FUTEX_WAKE_PRIVATE, 1);
}

void watch_answer(void)
{
	/* Release: pairs with the acquire in is_answered(); publishes the work. */
	__atomic_store_n(&answered, in_hand, __ATOMIC_RELEASE);
	raw3(SYS_futex, &answered, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

static bool is_answered(uint32_t order)
{
	/* Acquire: pairs with watch_answer(). */
	return (int32_t)(__atomic_load_n(&answered, __ATOMIC_ACQUIRE) - order) >= 0;
}

/* No waiting in a forked child, which has no such thread; on the thread itself, which may be in a
 * driver that loads modules; nor after a timeout, until it has answered: the caller may hold a
 * lock. */
static bool may_wait(void)
{
	return writers_are_on() && thread_number() != number &&
	       is_answered(__atomic_load_n(&given_up, __ATOMIC_RELAXED));
}

void watch_consult(void)
{
	uint64_t limit_ns = monotonic_ns() + CONSULT_MS * 1000000ull;
	struct timespec step = { 0, SHORTEST_MS * 1000000 };
	uint32_t mine, done;

	if (!may_wait()) {
		watch_hurry();
		return;
	}
	__atomic_store_n(&is_consulted, 1, __ATOMIC_RELAXED);
	mine = __atomic_add_fetch(&orders, 1, __ATOMIC_RELEASE);
	raw3(SYS_futex, &orders, FUTEX_WAKE_PRIVATE, 1);
	while (!is_answered(mine) && !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		if (monotonic_ns() >= limit_ns) {
			__atomic_store_n(&given_up, mine, __ATOMIC_RELAXED);
			return;
		}
		done = __atomic_load_n(&answered, __ATOMIC_RELAXED);
		raw4(SYS_futex, &answered, FUTEX_WAIT_PRIVATE, done, &step);
	}
}

/* Returns true after an order. Runs due ticks until then. */
static bool watch_await(uint32_t *seen, uint32_t delay_ms)
{
	uint64_t limit_ns = monotonic_ns() + delay_ms * 1000000ull;
	uint32_t before = *seen;

	while (__atomic_load_n(&orders, __ATOMIC_ACQUIRE) == before) {
		uint64_t due_ns = call.tick ? call.tick(monotonic_ns()) : UINT64_MAX;
		uint64_t left_ns = limit_ns - MIN(limit_ns, monotonic_ns());
		struct timespec limit = { 0, (long)MIN(left_ns, due_ns) };

		if (!left_ns)
			break;
		raw4(SYS_futex, &orders, FUTEX_WAIT_PRIVATE, before, &limit);
	}
	*seen = in_hand = __atomic_load_n(&orders, __ATOMIC_ACQUIRE);
	return *seen != before;
}

/* Returns when the next scan may begin. */
static uint64_t watch_scan(struct hooks_report *ret, bool is_told)
{
	uint64_t begin = monotonic_ns(), end;

	got_scan(ret, !is_told);
	call.on_scan(ret);
	call.on_poll(true);
	end = monotonic_ns();
	return end + REST * (end - begin);
}

/* The offset of thread IDs must be known before the first entry is patched: a thread under a filter
 * may not be able to ask the kernel. */
static void watch_begin(struct hooks_report *ret)
{
	arena_share(libc);
	broadcast_avoid(libc);
	writer_ignore_me();
	thread_confirm();
	number = thread_number();
	raw2(SYS_prctl, PR_SET_NAME, WATCH_THREAD_NAME);
	got_update_modules();
	call.on_poll(true);
	watch_scan(ret, /* is_told */ false);
	__atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
	raw3(SYS_futex, &has_begun, FUTEX_WAKE_PRIVATE, 1);
}

static void *watch_run(void *unused)
{
	struct hooks_report report;
	uint32_t seen = 0, delay_ms = SHORTEST_MS;
	uint64_t next_ns = 0;

	(void)unused;
	watch_begin(&report);
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		bool is_told = watch_await(&seen, delay_ms), has_changed;

		if (__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
			break;
		has_changed = got_has_changed();
		delay_ms = is_told || has_changed ? SHORTEST_MS : MIN(2 * delay_ms, LONGEST_MS);
		if (__atomic_exchange_n(&is_consulted, 0, __ATOMIC_RELAXED))
			next_ns = 0;
		if ((has_changed || report.is_unsettled) && monotonic_ns() >= next_ns)
			next_ns = watch_scan(&report, is_told);
		else
			call.on_poll(false);
	}
	arena_part(libc);
	return NULL;
}

static void free_stack(void)
{
	memory_unmap(stack, STACK_BYTES);
	stack = NULL;
}

int watch_start(const struct boot_libc *given, const struct watch_calls *calls)
{
	int r;

	stack = memory_map(STACK_BYTES, MAP_NORESERVE | MAP_STACK);
	if (!stack)
		return -ENOMEM;
	libc = given;
	call = *calls;
	is_over = orders = in_hand = answered = given_up = has_begun = 0;
	r = broadcast_create(
		libc,
		&(struct new_thread){ .stack = stack, .stack_size = STACK_BYTES, .run = watch_run },
		&thread);
	if (r)
		free_stack();
	while (!r && !__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE))
		raw4(SYS_futex, &has_begun, FUTEX_WAIT_PRIVATE, 0, 0);
	return r;
}

void watch_stop(void)
{
	if (!stack)
		return;
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	watch_hurry();
	((join_function *)libc->pthread_join)(thread, NULL);
	free_stack();
}

bool watch_is_thread(void)
{
	return stack && thread_number() == number;
}

void watch_forget(void)
{
	stack = NULL;
}
