/*
 * Names of states.
 */
#include "host/fleet/rank.h"

static const struct {
	const char *name, *key;
} states[RANK_STATES] = {
	[RANK_NO_ANSWER] = { "no answer", "no-answer" },
	[RANK_DONE] = { "done", "done" },
	[RANK_IDLE] = { "idle", "idle" },
	[RANK_ENDED] = { "ended", "ended" },
	[RANK_REFUSED] = { "refused", "refused" },
	[RANK_CUT] = { "cut", "cut" },
};

const char *rank_state_name(enum rank_state state)
{
	return states[state < RANK_STATES ? state : RANK_NO_ANSWER].name;
}

const char *rank_state_key(enum rank_state state)
{
	return states[state < RANK_STATES ? state : RANK_NO_ANSWER].key;
}
