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
 * asks. */
int tables_take(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count, void *data);

/*
 * One at a time asks for tables, on a thread of the runner's: whoever gives the order takes the
 * turn, the thread says while it asks.  What it is given then is noted; or, where tools are
 * attached, kept until they are told of it (telling.h).  False: somebody who was given up has it
 * still.
 */
bool tables_turn_take(void);
void tables_turn_ask(bool is_asking);
void tables_turn_end(void);

/* With the turn: the next that was kept, and is not known.  False: there is none. */
struct agent_table;
bool tables_next_kept(struct agent_table *ret);

/* Notes one; what it is, or negative errno. */
enum table_news {
	TABLE_KNOWN,
	TABLE_RESTARTED, /* known, and its runtime has started again */
	TABLE_NEW,
};
int tables_note_kept(struct agent_table *table, unsigned *ret_index);

/* In a forked child. */
void tables_adopt(void);
