/*
 * Notifies attached tools of tables, on the runner's thread. The application may close a table's
 * library at any time, so the library is held while the table is used.
 */
#pragma once

#include "shared/wire/page.h"

struct telling {
	struct agent_table found; /* found by the host; no parts: none */
	int32_t result;           /* of noting it; -ENXIO: it does not exist any more */
	uint32_t count;
	void *libraries[AGENT_TABLES_MAX + 1]; /* held */
};

/* With the turn: notes the found table and those kept during the request, and notifies tools. Skips
 * tables that do not exist any more. */
void telling_run(struct telling *self);

/* Holds the libraries of all known tables, and visits the tables that still exist, unless `visit`
 * is NULL: on the runner's thread, while a tool is called. */
void telling_hold(struct telling *self, void (*visit)(unsigned index));

/* Releases the libraries; releasing the last reference runs a library's destructors. */
void telling_release(struct telling *self);
