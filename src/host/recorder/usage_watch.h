/*
 * Writes into a recording what its processes use: processor time, memory, threads.  Each process is
 * read five times a second; where there are more than eight, each less often.
 */
#pragma once

#include "host/recorder/programs.h"

/* Zero is ready. */
struct usage_watch {
	struct bytes bytes; /* readings that are not in the file yet */
	uint32_t count;
	uint64_t looked_ns, flushed_ns;
	size_t cursor; /* see programs_next() */
};

/* To be called often: reads when that is due. */
int usage_watch_check(struct usage_watch *watch, struct programs *programs,
		      struct err *err) MUST_CHECK;
/* Writes what is not in the file yet. */
int usage_watch_flush(struct usage_watch *watch, struct recording *recording,
		      struct err *err) MUST_CHECK;
void usage_watch_done(struct usage_watch *watch);
