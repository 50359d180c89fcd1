/*
 * The table.
 */
#include "host/core/threads/thread_state.h"

#include "shared/base/macros.h"

static const struct {
	char state;
	const char *name;
} state_names[] = {
	{ 'R', "running" }, { 'S', "sleeping" }, { 'D', "blocked" },
	{ 'T', "stopped" }, { 't', "traced" },   { 'Z', "zombie" },
	{ 'X', "dead" },    { 'I', "idle" },     { STATE_FROZEN, "frozen" },
};

const char *thread_state_name(char state)
{
	for (size_t i = 0; i < ARRAY_SIZE(state_names); i++)
		if (state_names[i].state == state)
			return state_names[i].name;
	return "unknown";
}
