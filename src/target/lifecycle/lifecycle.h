/*
 * Walks tools through their life: configure, initialize, attach, detach, attach again, finalize.
 * docs/lifecycle.md draws it. One caller at a time: the agent's control thread, an application
 * thread that calls the register library, or exit().
 */
#pragma once

#include "shared/wire/boot.h"
#include "shared/wire/control.h"

#include <stdbool.h>

#define LIFECYCLE_TIMEOUT_MS 10000 /* default limit of each call of a tool */

/* Acquires the lifecycle; -EBUSY if another thread keeps it, -ESHUTDOWN if the process is
 * ending. */
int lifecycle_enter(void) MUST_CHECK;
void lifecycle_leave(void);

/* Runs one step of one tool; 0 at once if it is repeated. Else -errno with the reason in text. */
int lifecycle_step(const struct boot_context *boot, unsigned tool, enum tool_step step,
		   uint32_t timeout_ms, char *text, size_t room);

/* Detaches every attached tool, and finalizes all with `finalize`. Returns how many failed; the
 * text names these. */
unsigned lifecycle_quiet(const struct boot_context *boot, bool finalize, uint32_t timeout_ms,
			 char *text, size_t room);

/* In a forked child: the tools are loaded, but not attached. */
void lifecycle_adopt(void);

/* Registers a handler by which exit() finalizes every tool, once, whether a host is attached or
 * not; may be repeated. */
void lifecycle_watch_exit(void);
/* Unregisters it, before the library is unmapped. False if exit() is already calling it: then this
 * library must stay. */
bool lifecycle_unwatch_exit(void) MUST_CHECK;
