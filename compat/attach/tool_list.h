/*
 * Which tools the environment of the caller asks for.
 */
#pragma once

#include "outcome.h"

#define TOOL_LIST_MAX 16 /* as many as fit into one process */

struct tool_list {
	char *items[TOOL_LIST_MAX];
	size_t count;
};

/* At least one, or the outcome says what to name.  A file need not be there. */
rocattach_status_t tool_list_read(struct tool_list *ret, struct outcome *outcome);

void tool_list_free(struct tool_list *list);
