/*
 * Shared by writer_sessions.c, which begins and ends sessions, writer.c, which gives rings to
 * threads, and writer_records.c, which fills these.
 */
#pragma once

#include "target/hooks/writer.h"

/* In a page that is zeroed in a forked child: there is no session. */
struct writer_switches {
	uint32_t session; /* the current one; 0: none */
};

extern struct writer_switches *writer_switches; /* NULL: there was no session yet */

/* The current session. Acquire: pairs with writers_open(). */
static inline uint32_t writers_current(void)
{
	return __atomic_load_n(&writer_switches->session, __ATOMIC_ACQUIRE);
}

#define GENERATIONS 8u

/* One for each of the last eight sessions. */
struct generation {
	struct rings *rings; /* NULL: no thread can be in them */
	uint32_t claiming;   /* number of threads that claim a ring */
};
extern struct generation writer_generations[GENERATIONS];

static inline struct generation *generation_of(uint32_t session)
{
	return &writer_generations[session % GENERATIONS];
}

/* The writer of a slot of a session's rings. */
struct writer *writer_at(uint32_t session, uint32_t index);

/* True if the thread with that ID is limpet's. */
bool writers_own(int32_t tid);
