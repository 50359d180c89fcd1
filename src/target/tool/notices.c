/*
 * Hooks only entries that are used for calls alone, and a thread continues from a hook to the
 * original without returning: so this code can be unloaded.
 */
#include "target/tool/notices.h"

#include "shared/arch/syscall.h"
#include "target/agent/departure.h"
#include "target/hooks/clock.h"
#include "target/hooks/thread.h"
#include "target/hooks/wants.h"
#include "target/tool/aside.h"
#include "target/tool/backend.h"
#include "target/tool/confine.h"
#include "target/tool/watch.h"

#include <errno.h>

static int32_t installed_by; /* the process whose entries are patched; 0: none */
static uint32_t watchers;    /* number of watching threads */
static bool must_stay;       /* another tool may have stored a hook's address */
static uint32_t inside;      /* threads that wait in a hook, or were suspended there */

/* Where threads have filters of their own, no thread waits: each may repeat another's call. */
static void on_notice(const struct traced *traced, const uint64_t *arguments)
{
	bool may_bring_modules = confine_is_opening(traced);

	if (confine_takes_counter(traced, arguments))
		__atomic_store_n(&clock_is_forbidden, 1, __ATOMIC_SEQ_CST);
	if (!aside_may_call() || (!may_bring_modules && !confine_is_change(traced, arguments)))
		return;
	__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED);
	if (may_bring_modules)
		watch_hurry();
	else
		aside_step();
	/* Release: pairs with notices_are_passed(); at 0 all threads have finished. */
	__atomic_sub_fetch(&inside, 1, __ATOMIC_RELEASE);
}

static void ignore_report(const struct hooks_report *report)
{
	(void)report;
}

static void notices_poll(bool have_modules_changed)
{
	(void)have_modules_changed;
	aside_look();
	watch_answer();
}

/* The watching thread, and threads inside, were the parent's. */
static void forget_parent(void)
{
	if (!installed_by || installed_by == (int32_t)raw0(SYS_getpid))
		return;
	watch_forget();
	__atomic_store_n(&inside, 0, __ATOMIC_RELAXED);
}

/* A tool that has changed an entry after limpet may have stored limpet's stub; an entry that cannot
 * be restored leads here for ever. */
void notices_stop(void)
{
	struct patches_left left = { 0 };

	__atomic_store_n(&hook_on_notice, NULL, __ATOMIC_RELEASE);
	forget_parent();
	watch_stop();
	__atomic_store_n(&watchers, 0, __ATOMIC_RELAXED);
	got_restore(&left);
	must_stay |= left.foreign || left.unwritable;
	hooks_off();
	got_close();
	patches_close();
	aside_end();
	installed_by = 0;
}

static int hooks_start(void)
{
	int r = patches_open();

	if (!r)
		r = backend_open();
	wants_clear();
	if (!r && !confine_want())
		r = -ENOSPC;
	if (r)
		return r;
	got_choose_words(GOT_WORDS_CALLS);
	installed_by = (int32_t)raw0(SYS_getpid);
	thread_learn(backend_symbol("__errno_location"), /* asks */ true);
	confine_begin();
	aside_begin();
	__atomic_store_n(&hook_on_notice, on_notice, __ATOMIC_RELEASE);
	r = backend_watch(&(struct watch_calls){ ignore_report, notices_poll, NULL });
	__atomic_store_n(&watchers, !r, __ATOMIC_RELAXED);
	return r;
}

int notices_start(void)
{
	int r = backend_use_agent() ? 0 : -ENOSYS;

	if (installed_by)
		notices_stop();
	if (!r)
		r = hooks_start();
	if (r)
		notices_stop();
	return r;
}

bool notices_are_in(void)
{
	return installed_by;
}

void notices_abandon(void)
{
	must_stay = true;
	installed_by = 0;
}

unsigned notices_threads(void)
{
	return __atomic_load_n(&watchers, __ATOMIC_RELAXED);
}

bool notices_have_stayed(void)
{
	return installed_by || must_stay;
}

bool notices_are_passed(void)
{
	return __atomic_load_n(&inside, __ATOMIC_ACQUIRE); /* pairs with on_notice() */
}
