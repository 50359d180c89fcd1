/*
 * Part of the agent.  It can be unloaded: only words are hooked that nothing but calls goes
 * through, and a thread that comes through a hook goes on to the original without coming back. What
 * takes locks of the loader's is done on a thread of the runner's.
 */
#include "target/agent/notice.h"

#include "shared/arch/syscall.h"
#include "target/agent/departure.h"
#include "target/hooks/thread.h"
#include "target/hooks/wants.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/page.h"
#include "target/tool/aside.h"
#include "target/tool/backend.h"
#include "target/tool/confine.h"
#include "target/tool/loader.h"
#include "target/tool/watch.h"

#include <errno.h>
#include <time.h>

#define GLANCE_NS 1000000

/* The loader is about to work: modules may come. */
static const struct traced openings[] = {
	{ "dlopen", NULL, DOMAIN_FUNCTION, HOOK_NOTICE, .value_count = 0 },
	{ "dlmopen", NULL, DOMAIN_FUNCTION, HOOK_NOTICE, .value_count = 0 },
};

static int32_t installed_by; /* the process whose words we have changed; 0: none */
static uint32_t watchers;    /* threads of ours */
static bool must_stay;       /* somebody else may have kept the address of a hook */
static uint32_t
	inside; /* threads of the program's that are held up by a hook, or were left there */
static uint32_t is_busy;     /* a thread of the runner's begins or ends; acquire and release */
static uint32_t is_unwanted; /* who begins late must end at once */

static bool is_opening(const struct traced *traced)
{
	return traced >= openings && traced < openings + ARRAY_SIZE(openings);
}

/* Where threads have filters of their own, nobody is held up: any of them may repeat what only it
 * has done. */
static void on_notice(const struct traced *traced, const uint64_t *arguments)
{
	if (!limpet_agent_may_call())
		return;
	__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED);
	if (is_opening(traced))
		watch_hurry();
	else if (confine_is_change(traced, arguments))
		aside_step();
	/* Release: who sees nobody inside knows that all has been done. */
	__atomic_sub_fetch(&inside, 1, __ATOMIC_RELEASE);
}

static int want(void)
{
	bool fits = true;

	wants_clear();
	for (size_t i = 0; i < ARRAY_SIZE(openings); i++)
		fits &= wants_add(&openings[i]);
	for (size_t i = 0; i < confine_notice_count; i++)
		fits &= wants_add(&confine_notices[i]);
	return fits ? 0 : -ENOSPC;
}

static void ignore_report(const struct got_report *report)
{
	(void)report;
}

static void look_around(bool have_modules_changed)
{
	(void)have_modules_changed;
	aside_look();
	watch_answer();
}

/* Who has changed a word after us may have kept what it led to; and one that is still ours leads
 * here for ever. */
static void stop(void)
{
	struct words_left left = { 0 };

	hook_on_notice = NULL;
	watch_stop();
	__atomic_store_n(&watchers, 0, __ATOMIC_RELAXED);
	got_restore(&left);
	must_stay |= left.foreign || left.unwritable;
	hooks_off();
	got_close();
	words_close();
	aside_end();
	installed_by = 0;
}

/* A forked child has its parent's hooks in its words; the thread is not there, nor who was inside.
 */
static void stop_any(void)
{
	if (installed_by != (int32_t)raw0(SYS_getpid)) {
		watch_forget();
		__atomic_store_n(&inside, 0, __ATOMIC_RELAXED);
	}
	stop();
}

static int start(void)
{
	int r = words_open();

	if (!r)
		r = backend_open();
	if (!r)
		r = want();
	if (r)
		return r;
	got_take_calls_only();
	installed_by = (int32_t)raw0(SYS_getpid);
	agent_page.has_hooked = 1;
	thread_learn(backend_symbol("__errno_location"), /* asks */ false);
	confine_begin();
	aside_begin();
	hook_on_notice = on_notice;
	r = backend_watch(ignore_report, look_around);
	__atomic_store_n(&watchers, !r, __ATOMIC_RELAXED);
	return r;
}

/* For the thread of the runner's, and its answer. */
struct order {
	const struct boot_libc *libc;
	bool is_final;
	int result;
};

static void begin(void *pointer)
{
	struct order *order = pointer;

	order->result = backend_use_agent() ? 0 : -ENOSYS;
	if (!order->result && installed_by)
		stop_any();
	if (!order->result)
		order->result = start();
	if (order->result || __atomic_load_n(&is_unwanted, __ATOMIC_ACQUIRE))
		stop();
	__atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
}

static void end(void *pointer)
{
	struct order *order = pointer;

	if (installed_by)
		stop_any();
	if (order->is_final)
		loader_leave_forks((void (*)(void *))order->libc->__cxa_finalize);
	__atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
}

static void ignore(void *unused)
{
	(void)unused;
}

static int work(struct order *order, void (*function)(void *), uint32_t timeout_ms)
{
	int r;

	__atomic_store_n(&is_busy, 1, __ATOMIC_RELEASE);
	r = runner_call(order->libc, function, ignore, order, sizeof(*order), timeout_ms);
	if (r && r != -ETIMEDOUT)
		__atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
	return r ? r : order->result;
}

int notice_begin(const struct boot_libc *libc, uint32_t timeout_ms)
{
	struct order order = { libc, false, 0 };
	int r;

	if (__atomic_load_n(&is_busy, __ATOMIC_ACQUIRE))
		return -EBUSY;
	__atomic_store_n(&is_unwanted, 0, __ATOMIC_RELEASE);
	r = work(&order, begin, timeout_ms);
	if (r == -ETIMEDOUT)
		__atomic_store_n(&is_unwanted, 1, __ATOMIC_RELEASE);
	return r;
}

/* Whoever begins or ends was given up, and goes on. */
static bool await_turn(uint32_t timeout_ms)
{
	struct timespec glance = { 0, GLANCE_NS };

	for (uint32_t i = 0; __atomic_load_n(&is_busy, __ATOMIC_ACQUIRE); i++) {
		if (i == timeout_ms)
			return false;
		raw2(SYS_nanosleep, &glance, 0);
	}
	return true;
}

int notice_end(const struct boot_libc *libc, bool is_final, uint32_t timeout_ms)
{
	struct order order = { libc, is_final, 0 };

	__atomic_store_n(&is_unwanted, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&hook_on_notice, NULL, __ATOMIC_RELEASE);
	if (!await_turn(timeout_ms))
		return -ETIMEDOUT;
	if (!installed_by && !(is_final && loader_is_in_forks()))
		return 0;
	return work(&order, end, timeout_ms);
}

void notice_adopt(void)
{
	if (!__atomic_load_n(&is_busy, __ATOMIC_RELAXED))
		return;
	must_stay = true;
	installed_by = 0;
	__atomic_store_n(&is_busy, 0, __ATOMIC_RELAXED);
}

unsigned notice_threads(void)
{
	return __atomic_load_n(&watchers, __ATOMIC_RELAXED);
}

const char *notice_hindrance(void)
{
	if (installed_by || must_stay || loader_is_in_forks() ||
	    __atomic_load_n(&is_busy, __ATOMIC_ACQUIRE))
		return "the agent itself: something of the program's may still lead to it";
	/* Acquire: pairs with on_notice(). */
	return __atomic_load_n(&inside, __ATOMIC_ACQUIRE)
		       ? "the agent itself: a thread of the program's may come back to it"
		       : NULL;
}
