/*
 * The tables of AMD's runtimes: hooked as the agent learns of them, also while the program runs.
 * The tables themselves are put back by table_restore().
 */
#pragma once

#include "target/hooks/got/got.h"

struct agent_table;

/* How many tables the agent knows; they stay where they are. */
typedef uint32_t tables_source(const struct agent_table **ret);

/* Where to ask, in the session that is to begin; NULL: there are none. */
void tables_use(tables_source *tables);

/* Is there one of this name? */
bool tables_have(const char *name);

/* Hooks what has come since, and counts it. */
void tables_look(bool have_modules_changed, struct got_report *report);

/* One table in memory. */
struct live_table {
	uint64_t *slots;
	unsigned count;
};

/* Each that the agent knows; its library stays meanwhile. */
typedef void tables_visitor(const struct agent_table *known, struct got_report *report);
void tables_each(tables_visitor *visit, struct got_report *report);

/* Its own slots; those of one that its root points to.  False: it is another, or not sound. */
bool tables_hip(const struct agent_table *known, struct live_table *ret);
bool tables_hsa_part(const struct agent_table *known, unsigned part, struct live_table *ret);
