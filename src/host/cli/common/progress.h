/*
 * Shows a person at a terminal that work goes on, once it has taken two seconds.
 */
#pragma once

#include "host/core/threads/worker.h"

struct progress {
	const char *doing, *object; /* "reading", "app.limpet" */
	uint64_t begin_ns;
	struct worker worker; /* not running: nothing is printed */
};

/* Both texts must outlive it.  Prints nothing if stderr is no terminal. */
void progress_begin(struct progress *ret, const char *doing, const char *object);

/* Removes the line.  Zero is allowed. */
void progress_end(struct progress *progress);

static inline void progress_end_at_scope_end(struct progress *progress)
{
	progress_end(progress);
}
