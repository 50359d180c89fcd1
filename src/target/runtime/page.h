/*
 * The page that the host reads from outside. Each copy of the agent library has one; the thread
 * that holds the lifecycle writes it.
 */
#pragma once

#include "shared/wire/page.h"

extern struct agent_page agent_page;

/* Stores a new state, and the time of the change. */
void page_set_state(enum agent_state state);

/* True if the page was written by this process: a forked child has its parent's page. */
_Bool page_is_own(void);
