/*
 * Calls into a tool, each on a thread of its own with a time limit.
 */
#pragma once

#include "target/lifecycle/tools.h"

enum tool_call {
	CALL_CONFIGURE, /* together with configure_attach */
	CALL_INITIALIZE,
	CALL_ATTACH,
	CALL_DETACH,
	CALL_FINALIZE,
};

#define CALL_THREW INT32_MIN /* result of a call that threw an exception */

/* Makes the call; *ret is its result. -ETIMEDOUT: the tool counts as inside until it returns. */
int call_tool(const struct boot_libc *libc, struct tool *tool, enum tool_call call,
	      uint32_t timeout_ms, int *ret) MUST_CHECK;

/* Finalizes on the calling thread, which is in exit() or is the tool's own. */
void call_finalize_here(struct tool *tool);
