/*
 * The API tables of GPU runtimes in this process, as register libraries hand them over.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* Notes tables in the agent's page; a known registration is noted once. 0, -ENOSPC, -EINVAL,
 * -EBUSY. */
int tables_note(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count);

/* Is there a table of this name? Also true for a name that no runtime uses: nothing is missing. */
bool tables_have(const char *name);

/* Receives the registrations of limpet's own register library, on the thread that requests them. */
int tables_take(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count, void *data);

/*
 * One request for tables runs at a time, on the runner's thread. The thread that orders it takes
 * the turn; the requesting thread marks the request. Tables received meanwhile are noted; if tools
 * are attached, they are kept until tools are notified (telling.h). False: a request that has
 * exceeded its time limit still has the turn.
 */
bool tables_turn_take(void);
void tables_turn_ask(bool is_asking);
void tables_turn_end(void);

/* With the turn: the next kept table that is not known yet. False: there is none. */
struct agent_table;
bool tables_next_kept(struct agent_table *ret);

/* Notes one table: enum table_news, or negative errno. */
enum table_news {
	TABLE_KNOWN,
	TABLE_RESTARTED, /* known, and its runtime has restarted */
	TABLE_NEW,
};
int tables_note_kept(struct agent_table *table, unsigned *ret_index);

/* In a forked child. */
void tables_adopt(void);
