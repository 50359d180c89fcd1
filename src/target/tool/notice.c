/*
 * Part of the agent. Code that acquires the loader's locks runs on the runner's thread, for which
 * the control thread waits up to a limit.
 */
#include "target/agent/notice.h"

#include "target/hooks/hook.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/page.h"
#include "target/tool/notices.h"

#include <errno.h>

#define GLANCE_NS 1000000

static uint32_t is_busy;     /* the runner's thread begins or ends; acquire and release */
static uint32_t is_unwanted; /* a late begin must end at once */

/* The argument and result of the runner's thread. */
struct order {
	const struct boot_libc *libc;
	int result;
};

static void order_begin(void *pointer)
{
	struct order *order = pointer;

	agent_page.has_hooked = 1;
	order->result = notices_start();
	if (!order->result && __atomic_load_n(&is_unwanted, __ATOMIC_ACQUIRE))
		notices_stop();
	__atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
}

static void order_end(void *pointer)
{
	(void)pointer;
	if (notices_are_in())
		notices_stop();
	__atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
}

static void order_ignore(void *unused)
{
	(void)unused;
}

static int order_work(struct order *order, void (*function)(void *), uint32_t timeout_ms)
{
	int r;

	__atomic_store_n(&is_busy, 1, __ATOMIC_RELEASE);
	r = runner_call(order->libc, function, order_ignore, order, sizeof(*order), TABLE_OF_CALLER,
			timeout_ms);
	if (r && r != -ETIMEDOUT)
		__atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
	return r ? r : order->result;
}

int notice_begin(const struct boot_libc *libc, uint32_t timeout_ms)
{
	struct order order = { libc, 0 };
	int r;

	if (__atomic_load_n(&is_busy, __ATOMIC_ACQUIRE))
		return -EBUSY;
	__atomic_store_n(&is_unwanted, 0, __ATOMIC_RELEASE);
	r = order_work(&order, order_begin, timeout_ms);
	if (r == -ETIMEDOUT)
		__atomic_store_n(&is_unwanted, 1, __ATOMIC_RELEASE);
	return r;
}

/* Waits for a thread that has timed out, and still begins or ends. */
static bool await_turn(uint32_t timeout_ms)
{
	for (uint32_t i = 0; __atomic_load_n(&is_busy, __ATOMIC_ACQUIRE); i++) {
		if (i == timeout_ms)
			return false;
		sleep_ns(GLANCE_NS);
	}
	return true;
}

/* If no thread can be created, the control thread does it: no hook of limpet's may stay. */
int notice_end(const struct boot_libc *libc, uint32_t timeout_ms)
{
	struct order order = { libc, 0 };
	int r;

	__atomic_store_n(&is_unwanted, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&hook_on_notice, NULL, __ATOMIC_RELEASE);
	if (!await_turn(timeout_ms))
		return -ETIMEDOUT;
	if (!notices_are_in())
		return 0;
	r = order_work(&order, order_end, timeout_ms);
	if (r && r != -ETIMEDOUT)
		order_end(&order);
	return r == -ETIMEDOUT ? r : 0;
}

void notice_adopt(void)
{
	if (!__atomic_load_n(&is_busy, __ATOMIC_RELAXED))
		return;
	notices_abandon();
	__atomic_store_n(&is_busy, 0, __ATOMIC_RELAXED);
}

unsigned notice_threads(void)
{
	return notices_threads();
}

const char *notice_hindrance(void)
{
	if (notices_have_stayed() || __atomic_load_n(&is_busy, __ATOMIC_ACQUIRE))
		return "the agent itself: the program may still have a pointer to it";
	return notices_are_passed() ? "the agent itself: a thread of the program may return into it"
				    : NULL;
}
