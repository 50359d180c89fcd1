/*
 * Names of states and files.  Runs at both ends.
 */
#include "host/fleet/rank.h"

#include <stdio.h>
#include <string.h>

#define NODE_LETTERS_MAX 100

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

const char *recording_name(uint32_t rank, const char *node, pid_t pid, char ret[RECORDING_NAME_MAX])
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
	int used = rank == RANK_NONE ? 0 : snprintf(ret, RECORDING_NAME_MAX, "rank-%05u-", rank);
	char *name = ret + used;

	used += snprintf(name, RECORDING_NAME_MAX - (size_t)used, "%.*s", NODE_LETTERS_MAX,
			 *node ? node : "node");
	for (char *at = name; *at; at++)
		if (!strchr(letters, *at) || (at == name && *at == '.'))
			*at = '-';
	snprintf(ret + used, RECORDING_NAME_MAX - (size_t)used, "-%d" RECORDING_EXTENSION, pid);
	return ret;
}
