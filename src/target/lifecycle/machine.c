/*
 * The table of machine.h. Pure; runs in the target and in unit tests.
 */
#include "target/lifecycle/machine.h"

#include <errno.h>

#define TO(state) ((state) + 1) /* 0: not allowed */

static const unsigned char next[TOOL_STATES][TOOL_EVENTS] = {
	[TOOL_IDLE] = { [EVENT_BEGIN] = TO(TOOL_ATTACHING), [EVENT_RESET] = TO(TOOL_IDLE) },
	[TOOL_ATTACHING] = { [EVENT_ATTACHED] = TO(TOOL_ATTACHED),
			     [EVENT_FAIL] = TO(TOOL_FAILED),
			     [EVENT_LEFT] = TO(TOOL_DETACHED) }, /* another tool failed, --strict */
	[TOOL_ATTACHED] = { [EVENT_LEAVE] = TO(TOOL_DETACHING) },
	[TOOL_DETACHING] = { [EVENT_LEFT] = TO(TOOL_DETACHED), [EVENT_FAIL] = TO(TOOL_FAILED) },
	[TOOL_DETACHED] = { [EVENT_BEGIN] = TO(TOOL_ATTACHING), [EVENT_RESET] = TO(TOOL_IDLE) },
	[TOOL_FAILED] = { [EVENT_BEGIN] = TO(TOOL_ATTACHING), [EVENT_RESET] = TO(TOOL_IDLE) },
};

int machine_next(enum tool_state state, enum tool_event event)
{
	if (state >= TOOL_STATES || event >= TOOL_EVENTS || !next[state][event])
		return -EINVAL;
	return next[state][event] - 1;
}
