/*
 * Runs on the thread in exit(), like AMD's library. A forked child that exits is not the target:
 * its tools are not finalized.
 */
#include "target/lifecycle/exit.h"

#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/lifecycle/calls.h"
#include "target/lifecycle/lifecycle.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"

static char dso_handle; /* its address identifies limpet's handler for libc */
static bool is_watched;
static long unwatching; /* the thread that unregisters the handler, in exit_unwatch() */

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

void exit_watch(void)
{
	if (!is_watched)
		is_watched = !libc_at_exit(on_exit_of_program, NULL, &dso_handle);
}

/* libc calls each handler once and drops it, for __cxa_finalize or for exit(). If __cxa_finalize
 * does not call it, a thread in exit() has it, and is in this library, or will be. */
bool exit_unwatch(void)
{
	if (!is_watched)
		return true;
	unwatching = raw0(SYS_gettid);
	libc_finalize(&dso_handle);
	unwatching = 0;
	return !is_watched;
}
