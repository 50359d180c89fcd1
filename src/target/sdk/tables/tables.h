/*
 * The API tables of GPU runtimes in this process, as register libraries hand them over.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* Notes the tables in the page; a registration that is known is noted once.  0, -ENOSPC, -EINVAL.
 */
int tables_note(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count);

/* Is there a table of this name?  Of no name that a runtime has, yes: nothing is missing. */
bool tables_have(const char *name);

/* The form in which limpet's own register library tells of its registrations: to the thread that
 * has the turn. */
int tables_take(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count, void *data);

/*
 * One at a time asks for tables, on a thread of the runner's: whoever gives the order takes the
 * turn, the thread begins it.  What it is given meanwhile is noted, and told to tools that are
 * attached afterwards (telling.h).  False: somebody who was given up has it still.
 */
bool tables_turn_take(void);
void tables_turn_begin(void);
void tables_turn_end(void);

/* The next that was noted so, and that tools have not been told of.  False: there is none. */
bool tables_next_untold(unsigned *ret_index, bool *ret_has_restarted);

/* In a forked child. */
void tables_adopt(void);
