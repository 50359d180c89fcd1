/*
 * Register libraries in the target: they know the API tables of the GPU runtimes there.
 */
#pragma once

#include "host/session/session.h"

/* Since when something is looked for. */
struct registers_watch {
	uint64_t next_ns;  /* when to look for mappings */
	uint64_t ask_ns;   /* when to look for tables, where those are the same */
	uint64_t pause_ns; /* between two of the latter */
	size_t mappings;   /* there were at the last look */
};

/* While a session lasts: the same for runtimes that have come since, now and then, where a runtime
 * is there whose tables are not known. */
void registers_ask_again(struct session *session, const struct session_options *options,
			 struct registers_watch *watch);

/* Finds the tables, and has the agent ask for what cannot be found.  That there is none is no
 * error; one that does not answer is noted in the session. */
int registers_ask(struct session *session, const struct session_options *options,
		  struct err *err) MUST_CHECK;
