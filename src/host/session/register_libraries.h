/*
 * Register libraries in the target: they know the API tables of the GPU runtimes there.
 */
#pragma once

#include "host/session/session.h"

/* Since when something is looked for; all zero at first. */
struct registers_watch {
	uint64_t next_ns, look_pause_ns; /* when to look at mappings, and between two looks */
	uint64_t scan_ns, scan_pause_ns; /* the same, for tables in the target's memory */
	uint64_t ask_ns, ask_pause_ns;   /* and for questions that the target answers */
	uint32_t lacking;                /* of runtimes for which that was done: bits */
	size_t mappings;                 /* there were at the last look */
	bool has_changed;                /* their number, since the last scan */
	bool is_refused;                 /* the agent did not take what was found */
};

/* While a session lasts: the same for runtimes that have come since, now and then, where a runtime
 * is there whose tables are not known. */
void registers_ask_again(struct session *session, const struct session_options *options,
			 struct registers_watch *watch);

/* Finds the tables, and has the agent ask for what cannot be found.  That there is none is no
 * error; one that does not answer is noted in the session. */
int registers_ask(struct session *session, const struct session_options *options,
		  struct err *err) MUST_CHECK;
