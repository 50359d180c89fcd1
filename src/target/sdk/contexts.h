/*
 * Contexts of tools.  Made while a tool is configured or initialized, stopped at detach, kept for
 * the next attach.
 */
#pragma once

#include "limpet/tool.h"

#include <stdbool.h>

#define CONTEXTS_MAX 256

/* From now on contexts are made for this tool; -1: none may be made. */
void contexts_open_for(int tool);

/* The calling thread is inside that tool now; -1: inside none any more.  A call that returns late
 * must not make contexts for the tool whose turn it is meanwhile. */
void contexts_enter(int tool);

/* The handles of a tool's contexts; returns how many. */
size_t contexts_list(int tool, struct limpet_context *ret, size_t room);

/* At detach: stops all, remembering which were active. */
void contexts_pause(int tool);
/* At the next attach of a tool that has no tool_attach: as they were. */
void contexts_resume(int tool);
void contexts_forget(int tool);

/* The program ends: nothing may be started any more. */
void contexts_close(void);
