/*
 * The calls into a tool, each on a thread of its own with a time limit.
 */
#pragma once

#include "target/lifecycle/tools.h"

enum tool_call {
	CALL_CONFIGURE, /* and configure_attach at once */
	CALL_INITIALIZE,
	CALL_ATTACH,
	CALL_DETACH,
	CALL_FINALIZE,
};

#define CALL_THREW INT32_MIN /* instead of what it returned */

/* Makes the call; *ret is what it returned.  -ETIMEDOUT when it did not return in time: the tool is
 * then inside until it does. */
int call_tool(const struct boot_libc *libc, struct tool *tool, enum tool_call call,
	      uint32_t timeout_ms, int *ret) MUST_CHECK;

/* On the calling thread, which is ending the program. */
void call_finalize_here(struct tool *tool);
