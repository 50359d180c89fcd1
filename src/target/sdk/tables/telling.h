/*
 * Tools that are attached are told of tables on a thread of the runner's.  The program may close
 * the library of a table at any moment: it is held for as long as the table is touched.
 */
#pragma once

#include "shared/wire/page.h"

struct telling {
	struct agent_table found; /* that the host has found; without a part: none */
	int32_t result;           /* of noting that one: -ENXIO where it is not there any more */
	uint32_t count;
	void *libraries[AGENT_TABLES_MAX + 1]; /* that are held */
};

/* With the turn: notes what was found, and what was kept while one asked, and tells tools of it.
 * What is not there any more is not noted. */
void telling_run(struct telling *self);

/* Holds those of all tables that are known and still there, and visits these, unless that is NULL:
 * a thread of the runner's, while a tool is called. */
void telling_hold(struct telling *self, void (*visit)(unsigned index));

/* Gives the libraries back; who was the last to hold one runs its destructors. */
void telling_release(struct telling *self);
