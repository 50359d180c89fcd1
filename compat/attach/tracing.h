/*
 * limpet's own tracer through an attach library: what the variables ask for is recorded by a thread
 * in the caller, which writes the files at the end.
 */
#pragma once

#include "tool_list.h"

struct tracing;

/* Returns when it is attached, or waits for its first collection period. */
rocattach_status_t tracing_begin(struct tracing **ret, int pid, bool with_children,
				 const struct tool_list *tools, struct outcome *outcome);

/* Leaves, writes the files, and frees.  The end of the process is no failure. */
rocattach_status_t tracing_end(struct tracing *tracing, struct outcome *outcome);
