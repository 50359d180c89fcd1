/*
 * The states of a tool and what may happen in each; drawn in docs/lifecycle.md.
 */
#pragma once

#include "shared/wire/page.h"

enum tool_event {
	EVENT_BEGIN,    /* an attach begins */
	EVENT_ATTACHED, /* all its steps went well */
	EVENT_FAIL,
	EVENT_LEAVE, /* a detach begins */
	EVENT_LEFT,  /* it is over */
	EVENT_RESET, /* finalized: the next attach is a first one */
	TOOL_EVENTS,
};

/* Where the event leads, or -EINVAL when it cannot happen in this state. */
int machine_next(enum tool_state state, enum tool_event event);
