/*
 * What writer_sessions.c, which begins and ends sessions, writer.c, which gives threads their
 * rings, and writer_records.c, which fills them, share.
 */
#pragma once

#include "target/hooks/writer.h"

/* In a page that a forked child finds empty: there, nothing is on. */
struct writer_switches {
	uint32_t session; /* that is on; 0: none */
};

extern struct writer_switches *writer_switches; /* NULL: there was no session yet */

/* The session that is on. */
static inline uint32_t writers_current(void)
{
	return __atomic_load_n(&writer_switches->session, __ATOMIC_ACQUIRE);
}

#define GENERATIONS 8u

/* One for each of the last eight sessions. */
struct generation {
	struct rings *rings; /* NULL: nobody can be in it */
	uint32_t claiming;   /* threads that look for a ring */
};
extern struct generation writer_generations[GENERATIONS];

static inline struct generation *generation_of(uint32_t session)
{
	return &writer_generations[session % GENERATIONS];
}

/* That of a slot of a session's rings. */
struct writer *writer_at(uint32_t session, uint32_t index);

/* Is the thread of that number limpet's? */
bool writers_own(int32_t tid);
