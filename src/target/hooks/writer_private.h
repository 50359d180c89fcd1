/*
 * What writer.c, which gives threads their rings, and writer_records.c, which fills them, share.
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
