/*
 * The states of a tool and the events allowed in each; drawn in docs/lifecycle.md.
 */
#pragma once

#include "shared/wire/page.h"

enum tool_event {
	EVENT_BEGIN,    /* an attach begins */
	EVENT_ATTACHED, /* all its steps succeeded */
	EVENT_FAIL,
	EVENT_LEAVE, /* a detach begins */
	EVENT_LEFT,  /* a detach has ended */
	EVENT_RESET, /* finalized: the next attach is a first one */
	TOOL_EVENTS,
};

/* The state after the event, or -EINVAL if the event is not allowed in this state. */
int machine_next(enum tool_state state, enum tool_event event);
