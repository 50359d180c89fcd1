/*
 * The API tables of GPU runtimes in this process, as register libraries hand them over.
 */
#pragma once

#include "shared/wire/page.h"

#include <stdbool.h>

/* Notes tables in the agent's page; a known registration is noted once. 0, -ENOSPC, -EINVAL,
 * -EBUSY. */
int tables_note(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count);

/* Is there a table of this name? Also true for a name that no runtime uses: nothing is missing. */
bool tables_have(const char *name);

/*
 * One request for tables runs at a time, on the runner's thread. The thread that orders it takes
 * the turn; the requesting thread marks the request. Tables received meanwhile are noted; if tools
 * are attached, they are kept until tools are notified (telling_run()). False: a request that has
 * exceeded its time limit still has the turn.
 */
bool tables_turn_take(void);
void tables_turn_ask(bool is_asking);
bool tables_turn_asks(void); /* is it the calling thread? */
void tables_turn_end(void);

/* With the turn: the next kept table that is not known yet. False: there is none. */
bool tables_next_kept(struct agent_table *ret);

/* Notes one table: enum table_news, or negative errno. */
enum table_news {
	TABLE_KNOWN,
	TABLE_RESTARTED, /* known, and its runtime has restarted */
	TABLE_NEW,
};
int tables_note_kept(struct agent_table *table, unsigned *ret_index);
int tables_note_at(const char *name, uint64_t version, uint64_t instance, void **parts,
		   uint64_t part_count, unsigned *ret_index);
/* On the requesting thread: keeps it, or notes it if there are no tools to notify. */
int tables_keep(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count, bool has_tools);

/* In a forked child. */
void tables_adopt(void);

/*
 * Tables while tools are notified of them. The application may close a table's library at any time,
 * so the library is held while the table is used.
 */
struct telling {
	struct agent_table found; /* found by the host; no parts: none */
	int32_t result;           /* of noting it; -ENXIO: it does not exist any more */
	uint32_t count;
	void *libraries[AGENT_TABLES_MAX + 1]; /* held */
};

/* Holds the libraries of all known tables, and visits the tables that still exist, unless `visit`
 * is NULL: on the runner's thread, while a tool is called. */
void telling_hold(struct telling *self, void (*visit)(unsigned index));

/* Releases the libraries; releasing the last reference runs a library's destructors. */
void telling_release(struct telling *self);

/* Holds the library of an address until then. False: it is not there, or there are too many. */
bool telling_hold_library(struct telling *self, uint64_t address);
