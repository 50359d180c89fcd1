/*
 * The tools in the environment of the caller.
 */
#pragma once

#include "outcome.h"

#include <stdbool.h>

#define TOOL_LIST_MAX 16 /* as many as fit into one process */

struct tool_list {
	char *items[TOOL_LIST_MAX];
	size_t count;
	bool has_tracer; /* limpet's own, by AMD's name for its own, or because nothing is named */
};

/* A file need not be there. */
rocattach_status_t tool_list_read(struct tool_list *ret, struct outcome *outcome);

void tool_list_free(struct tool_list *list);
