/*
 * The order of a tool's steps, and the end of the process. Never exits, aborts or prints; a tool
 * that fails is marked as failed, and the other tools continue.
 */
#include "target/lifecycle/lifecycle.h"

#include "shared/arch/syscall.h"
#include "target/amd/engine.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/lifecycle/calls.h"
#include "target/lifecycle/machine.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

#include <errno.h>

#define NS_PER_S       1000000000ull
#define ENTER_LIMIT_NS (5 * NS_PER_S)
#define EXIT_LIMIT_NS  NS_PER_S       /* then the running call is made to time out */
#define HURRY_LIMIT_NS (3 * NS_PER_S) /* which is short on a processor that is not overloaded */
#define ENTER_PAUSE_NS 1000000

static uint32_t is_taken;
static char dso_handle; /* its address identifies limpet's handler for libc */
static bool is_watched; /* libc has the exit handler */
static long unwatching; /* the thread in lifecycle_unwatch_exit() */

/* Waits by the clock, because on a busy machine a pause takes many times its length. */
static int lock_enter(uint64_t limit_ns)
{
	uint64_t end_ns = monotonic_ns() + limit_ns;
	uint32_t unowned = 0;

	do {
		/* Acquire: pairs with the release in lifecycle_leave(). */
		if (__atomic_compare_exchange_n(&is_taken, &unowned, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			if (!agent_page.is_final)
				return 0;
			lifecycle_leave();
			return -ESHUTDOWN;
		}
		unowned = 0;
		sleep_ns(ENTER_PAUSE_NS);
	} while (monotonic_ns() < end_ns);
	return -EBUSY;
}

int lifecycle_enter(void)
{
	return lock_enter(ENTER_LIMIT_NS);
}

/* Waits only shortly: then makes the running call time out, so that the other tools can be
 * finalized. */
static int lock_enter_at_exit(void)
{
	int r = lock_enter(EXIT_LIMIT_NS);

	if (r != -EBUSY)
		return r;
	runner_hurry();
	return lock_enter(HURRY_LIMIT_NS);
}

void lifecycle_leave(void)
{
	__atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
}

/* On the thread in exit(), like AMD's library. A forked child that exits is not the target: its
 * tools are not finalized. */
static void on_exit_of_program(void *unused)
{
	(void)unused;
	if (raw0(SYS_gettid) == unwatching) {
		is_watched = false;
		return;
	}
	if (!page_is_own() || lock_enter_at_exit())
		return;
	contexts_close();
	agent_page.is_final = 1;
	__atomic_store_n(&tools_finality, -1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < tools_count(); i++)
		if (tools[i].is_initialized && !tools[i].page->is_inside)
			call_finalize_here(&tools[i]);
	__atomic_store_n(&tools_finality, 1, __ATOMIC_RELAXED);
	lifecycle_leave();
}

void lifecycle_watch_exit(void)
{
	if (!is_watched)
		is_watched = !libc_at_exit(on_exit_of_program, NULL, &dso_handle);
}

/* libc calls each handler once and drops it, for __cxa_finalize or for exit(). If __cxa_finalize
 * does not call it, a thread in exit() has it, and is in this library, or will be. */
bool lifecycle_unwatch_exit(void)
{
	if (!is_watched)
		return true;
	unwatching = raw0(SYS_gettid);
	libc_finalize(&dso_handle);
	unwatching = 0;
	return !is_watched;
}

static const char *const call_names[] = {
	[CALL_CONFIGURE] = "rocprofiler_configure",
	[CALL_INITIALIZE] = "initialize",
	[CALL_ATTACH] = "tool_attach",
	[CALL_DETACH] = "tool_detach",
	[CALL_FINALIZE] = "finalize",
};

/* Examples: "tool_attach did not return within 10000 ms", "initialize returned -1". */
static void tool_explain(struct tool *tool, enum tool_call call, int r, int result,
			 uint32_t timeout_ms)
{
	char *text = tool->page->reason;
	size_t room = sizeof(tool->page->reason), at = text_add(text, room, 0, call_names[call]);

	if (r == -ETIMEDOUT) {
		at = text_add(text, room, at, " did not return within ");
		at = text_add_number(text, room, at, timeout_ms);
		text_add(text, room, at, " ms");
	} else if (r) {
		text_add(text, room, at, ": no thread could be made for it");
	} else if (result == CALL_THREW) {
		text_add(text, room, at, " threw an exception");
	} else {
		at = text_add(text, room, at, result < 0 ? " returned -" : " returned ");
		text_add_number(text, room, at,
				result < 0 ? -(unsigned long)result : (unsigned long)result);
	}
}

static int tool_fail(struct tool *tool, int code)
{
	tool_move(tool, EVENT_FAIL);
	return code;
}

/* Makes a call that returns 0 on success. */
static int tool_call_checked(const struct boot_context *boot, struct tool *tool,
			     enum tool_call which, uint32_t timeout_ms)
{
	int result = 0, r = call_tool(&boot->libc, tool, which, timeout_ms, &result);

	if (!r && !result)
		return 0;
	tool_explain(tool, which, r, result, timeout_ms);
	return r ? r : -ECANCELED;
}

static int step_configure(const struct boot_context *boot, struct tool *tool, uint32_t timeout_ms)
{
	int takes_part = 0, r;

	if (tool->is_configured)
		return 0;
	lifecycle_watch_exit(); /* before the tool registers anything that needs finalizing */
	if (!sdk_prepare(&boot->libc))
		return -ENOMEM;
	r = call_tool(&boot->libc, tool, CALL_CONFIGURE, timeout_ms, &takes_part);
	if (r || takes_part == CALL_THREW) {
		tool_explain(tool, CALL_CONFIGURE, r, takes_part, timeout_ms);
		return r ? r : -ECANCELED;
	}
	tool->is_configured = true;
	tool->is_refused = !takes_part;
	return 0;
}

static int step_initialize(const struct boot_context *boot, struct tool *tool, uint32_t timeout_ms)
{
	int r;

	if (tool->is_initialized)
		return 0;
	if (!tool->calls.initialize && !tool->is_configured)
		return -EINVAL;
	r = tool_call_checked(boot, tool, CALL_INITIALIZE, timeout_ms);
	tool->calls.initialize = NULL; /* called once, even if it fails */
	tool->is_initialized = !r;
	tool->page->contexts = (uint32_t)contexts_list(
		(int)tool->index, (struct limpet_context[CONTEXTS_MAX]){}, CONTEXTS_MAX);
	return r;
}

static int step_attach(const struct boot_context *boot, struct tool *tool, uint32_t timeout_ms)
{
	int r = tool_call_checked(boot, tool, CALL_ATTACH, timeout_ms);

	if (r) {
		contexts_pause((int)tool->index);
		return r;
	}
	tool->page->attaches++;
	tool_move(tool, EVENT_ATTACHED);
	return 0;
}

static int (*const steps[TOOL_STEPS])(const struct boot_context *, struct tool *, uint32_t) = {
	[STEP_CONFIGURE] = step_configure,
	[STEP_INITIALIZE] = step_initialize,
	[STEP_ATTACH] = step_attach,
};

/* A tool that failed before it was initialized is not called again. */
static int step_begin(struct tool *tool, enum tool_step step)
{
	if (tool->page->state == TOOL_ATTACHED || tool->page->state == TOOL_ATTACHING)
		return 0;
	if (tool->page->state == TOOL_FAILED && !tool->is_initialized)
		return -ECANCELED;
	if (step != STEP_CONFIGURE || !tool_move(tool, EVENT_BEGIN))
		return -EINVAL;
	if (tool->is_initialized)
		tool_set_reason(tool, "");
	return 0;
}

static int run_step(const struct boot_context *boot, struct tool *tool, enum tool_step step,
		    uint32_t timeout_ms)
{
	int r;

	if (tool->page->is_plain || tool->is_refused || tool->page->state == TOOL_ATTACHED)
		return 0;
	if (__atomic_load_n(&tool->page->is_inside, __ATOMIC_ACQUIRE)) {
		tool_set_reason(tool, "an earlier call of it has not returned yet");
		return -EBUSY;
	}
	r = step_begin(tool, step);
	if (!r)
		r = steps[step](boot, tool, timeout_ms);
	if (r)
		return tool_fail(tool, r);
	if (tool->is_refused) { /* no steps are left, and that is no failure */
		tool_move(tool, EVENT_LEFT);
		tool_move(tool, EVENT_RESET);
		tool_set_reason(tool, "rocprofiler_configure returned NULL: it does not take part");
	}
	return 0;
}

int lifecycle_step(const struct boot_context *boot, unsigned index, enum tool_step step,
		   uint32_t timeout_ms, char *text, size_t room)
{
	struct tool *tool = &tools[index];
	int r = lifecycle_enter();

	if (r) {
		text_add(text, room, 0,
			 r == -ESHUTDOWN ? "the program is ending" : "the tools are busy");
		return r;
	}
	if (index >= tools_count() || !tool->page->handle)
		r = -ENOENT;
	else
		r = run_step(boot, tool, step, timeout_ms);
	if (r && r != -ENOENT)
		text_add(text, room, 0, tool->page->reason);
	lifecycle_leave();
	return r;
}

static int step_detach(const struct boot_context *boot, struct tool *tool, uint32_t timeout_ms)
{
	int r;

	if (tool->page->state == TOOL_ATTACHING) {
		tool_move(tool, EVENT_LEFT);
		return 0;
	}
	if (!tool_move(tool, EVENT_LEAVE))
		return 0;
	r = tool_call_checked(boot, tool, CALL_DETACH, timeout_ms);
	if (r)
		return tool_fail(tool, r);
	tool_move(tool, EVENT_LEFT);
	return 0;
}

/* The next attach is then a first one. */
static int step_finalize(const struct boot_context *boot, struct tool *tool, uint32_t timeout_ms)
{
	int r = tool->page->is_inside ? -EBUSY : 0;

	if (!r && tool->is_initialized)
		r = tool_call_checked(boot, tool, CALL_FINALIZE, timeout_ms);
	if (r && r != -ETIMEDOUT)
		return r;
	/* Even if the call has not returned: it is never repeated in this life of the tool. */
	contexts_forget((int)tool->index);
	sdk_tool_forget((int)tool->index);
	tool->is_configured = tool->is_initialized = tool->is_refused = false;
	tool->page->attaches = tool->page->contexts = 0;
	if (!r)
		tool_set_reason(tool, "");
	tool_move(tool, EVENT_RESET);
	return r;
}

/* Calls `act` for all tools; returns how many failed. */
static unsigned for_all(int (*act)(const struct boot_context *, struct tool *, uint32_t),
			const struct boot_context *boot, uint32_t timeout_ms, char *text,
			size_t room)
{
	unsigned disobedient = 0;

	for (unsigned i = 0; i < tools_count(); i++) {
		struct tool *tool = &tools[i];

		if (!tool->page->handle || !act(boot, tool, timeout_ms))
			continue;
		text_add_complaint(text, room, tool_name(tool), tool->page->reason);
		disobedient++;
	}
	return disobedient;
}

unsigned lifecycle_quiet(const struct boot_context *boot, bool finalizes, uint32_t timeout_ms,
			 char *text, size_t room)
{
	unsigned disobedient;
	int r = lifecycle_enter();

	if (r == -ESHUTDOWN)
		return 0; /* exit() finalizes the tools itself */
	if (r) {
		text_add(text, room, 0, "the tools are busy");
		return 1;
	}
	__atomic_store_n(&tools_finality, -1, __ATOMIC_RELAXED);
	disobedient = for_all(step_detach, boot, timeout_ms, text, room);
	if (finalizes)
		disobedient += for_all(step_finalize, boot, timeout_ms, text, room);
	__atomic_store_n(&tools_finality, 0, __ATOMIC_RELAXED);
	lifecycle_leave();
	return disobedient;
}

void lifecycle_adopt(void)
{
	is_taken = 0;
	runner_adopt();
	sdk_adopt();
	for (unsigned i = 0; i < tools_count(); i++) {
		tools[i].page->is_inside = 0;
		if (tools[i].page->state == TOOL_ATTACHED ||
		    tools[i].page->state == TOOL_ATTACHING ||
		    tools[i].page->state == TOOL_DETACHING)
			tools[i].page->state = TOOL_DETACHED;
	}
}
