/*
 * The page that the host reads from outside.  One per copy of the agent library; written by whoever
 * holds the lifecycle.
 */
#pragma once

#include "shared/wire/page.h"

extern struct agent_page agent_page;

/* Stores a new state with the time of the change. */
void page_set_state(enum agent_state state);

/* Is this still the process that the page speaks of?  A forked child has its parent's page. */
_Bool page_is_own(void);
