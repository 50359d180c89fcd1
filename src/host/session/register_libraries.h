/*
 * Register libraries in the target: they know the API tables of the GPU runtimes there.
 */
#pragma once

#include "host/session/options.h"

/* When to search next, and for what; all zero at first. */
struct registers_watch {
	uint64_t next_ns, read_pause_ns;   /* when to read mappings next, and the pause */
	uint64_t scan_ns, scan_pause_ns;   /* the same, for tables in the target's memory */
	uint64_t query_ns, query_pause_ns; /* and for queries that the target answers */
	uint32_t lacking;                  /* the runtimes for which that was done: bits */
	size_t mappings;                   /* their number at the last reading */
	bool has_changed;                  /* their number, since the last scan */
	bool is_refused;                   /* the agent refused what was found */
};

/* Finds the tables, and has the agent request those that cannot be found, as far as that is due by
 * the watch.  Having none is no error; a library that does not answer is noted in the report. */
int registers_query(struct attachment *attachment, const struct session_options *options,
		    struct registers_watch *watch, struct err *err) MUST_CHECK;

/* While a session lasts: repeats the search for runtimes loaded since, while one is mapped whose
 * tables are not known. */
void registers_query_again(struct attachment *attachment, const struct session_options *options,
			   struct registers_watch *watch);
