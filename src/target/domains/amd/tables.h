/*
 * The tables of AMD's runtimes: hooked as the agent learns of them, also while the program runs.
 * gpu_amd says when; the tables themselves are put back by table_restore().
 */
#pragma once

#include "target/domains/domain.h"

/* What modules import of a runtime that has no tables. */
struct import_pattern {
	const struct traced *traced;
	const char *text; /* "libamdhip64*:hip*" */
};

/* Adds the patterns of this domain, and excludes what the others match; false: no room. */
bool imports_add(const struct import_pattern *patterns, size_t count, enum trace_domain domain);

struct agent_table;

/* How many tables the agent knows; they stay where they are. */
typedef uint32_t runtimes_tables(const struct agent_table **ret);

/* Where to ask, in the session that is to begin; NULL: there are none. */
void runtimes_use(runtimes_tables *tables);

/* Is this domain to be written?  On any thread. */
bool runtimes_want(enum trace_domain domain);
