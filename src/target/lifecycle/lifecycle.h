/*
 * Walks tools through their life: configure, initialize, attach, detach, attach again, finalize.
 * docs/lifecycle.md draws it.  All of it for one caller at a time: the agent's control thread, or a
 * thread of the program that calls the register library, or exit().
 */
#pragma once

#include "shared/wire/boot.h"
#include "shared/wire/control.h"

#include <stdbool.h>

#define LIFECYCLE_TIMEOUT_MS 10000 /* for each call of a tool where nobody said otherwise */

/* Takes the lifecycle for this thread; -EBUSY when another has it for too long, -ESHUTDOWN when
 * the program is ending. */
int lifecycle_enter(void) MUST_CHECK;
/* The same for exit(), which does not wait long: a call that has not returned by then is given up,
 * so that the other tools can be finalized. */
int lifecycle_enter_at_exit(void) MUST_CHECK;
void lifecycle_leave(void);

/* One step of one tool.  A step that was done before is 0 at once.  Otherwise -errno with the
 * reason in text. */
int lifecycle_step(const struct boot_context *boot, unsigned tool, enum tool_step step,
		   uint32_t timeout_ms, char *text, size_t room);

/* Detaches every tool that is attached; with `finalize` ends their lives too.  The text names those
 * that did not obey; returns their number. */
unsigned lifecycle_quiet(const struct boot_context *boot, bool finalize, uint32_t timeout_ms,
			 char *text, size_t room);

/* A forked child: the tools are there, but nobody is attached to it. */
void lifecycle_adopt(void);

/* The library wants to go away: exit() must not find it any more.  False when it has found it. */
bool lifecycle_forget_exit(void) MUST_CHECK;
/* It stays after all. */
void lifecycle_mind_exit(void);
