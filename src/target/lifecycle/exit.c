/*
 * Runs on the thread that called exit(), as AMD's library does it.  A forked child that exits is
 * not the program: there nothing is finalized.
 */
#include "target/lifecycle/exit.h"

#include "shared/arch/syscall.h"
#include "target/lifecycle/calls.h"
#include "target/lifecycle/fork_gate.h"
#include "target/lifecycle/lifecycle.h"
#include "target/runtime/page.h"
#include "target/sdk/contexts.h"

typedef int atexit_function(void (*)(void *), void *, void *);

static char dso_handle; /* by its address libc knows our entry */
static bool is_watched;
static long unwatching; /* the thread that takes our entry back, in exit_unwatch() */

static void on_exit_of_program(void *unused)
{
	(void)unused;
	if (raw0(SYS_gettid) == unwatching) {
		is_watched = false;
		return;
	}
	if (!page_is_own() || lifecycle_enter_at_exit())
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

void exit_watch(const struct boot_context *boot)
{
	atexit_function *at_exit = (atexit_function *)boot->libc.__cxa_atexit;

	if (!is_watched)
		is_watched = !at_exit(on_exit_of_program, NULL, &dso_handle);
}

/* libc calls each entry once and drops it, for us or for exit().  When it does not come to us, a
 * thread that ends the program has it, and will be in this library, or is. */
bool exit_unwatch(const struct boot_context *boot)
{
	if (!is_watched)
		return true;
	unwatching = raw0(SYS_gettid);
	fork_gate_open(&boot->libc);
	fork_gate_finalize(&boot->libc, &dso_handle);
	fork_gate_close(&boot->libc);
	unwatching = 0;
	return !is_watched;
}
