/*
 * The tables of GPU runtimes: hooked as the agent learns of them, also while the program runs.  All
 * but runtimes_want() on threads of ours, one at a time.
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

struct runtimes_report {
	uint32_t domains; /* bits: of which something is hooked */
	uint32_t hooked, unwritable, refused;
};

struct agent_table;

/* How many tables the agent knows; they stay where they are. */
typedef uint32_t runtimes_tables(const struct agent_table **ret);

/* False when there was no room. */
bool runtimes_start(const struct trace_request *request, runtimes_tables *tables);

/* Hooks what has come since. */
void runtimes_look(struct runtimes_report *ret);

/* No device is asked any more, and what it still does is waited for; then it is no longer told to
 * us.  How much was cut off.  The tables themselves are put back by table_restore(). */
uint32_t runtimes_stop(void);
void runtimes_forget(void);

/* Is this domain to be written?  On any thread. */
bool runtimes_want(enum trace_domain domain);
