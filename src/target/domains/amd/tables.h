/*
 * Hooks the tables of AMD's runtimes as the agent learns of them, also while the target runs.
 * table_restore() restores the tables.
 */
#pragma once

#include "target/hooks/got/got.h"

struct agent_table;

/* Returns the number of tables that the agent knows; their descriptions do not move. */
typedef uint32_t tables_source(const struct agent_table **ret);

/* Sets the source of tables for the next session; NULL: there are none. */
void tables_use(tables_source *tables);

/* True if there is a table of this name. */
bool tables_have(const char *name);

/* Hooks new tables, and counts the hooks. */
void tables_look(bool have_modules_changed, struct got_report *report);

/* One table in memory. */
struct live_table {
	uint64_t *slots;
	unsigned count;
};

/* Visits each table that the agent knows; keeps its library loaded meanwhile. */
typedef void tables_visitor(const struct agent_table *known, struct got_report *report);
void tables_each(tables_visitor *visit, struct got_report *report);

/* HIP's own slots; those of a table of HSA's root. False: another table, or invalid. */
bool tables_hip(const struct agent_table *known, struct live_table *ret);
bool tables_hsa_part(const struct agent_table *known, unsigned part, struct live_table *ret);
