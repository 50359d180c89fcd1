/*
 * Puts our stubs into API tables, and takes them out again.
 */
#pragma once

#include "shared/wire/page.h"

#include <stdbool.h>

/* Which calls which context wants to see: asked again whenever contexts start and stop. */
void intercept_update(void);

/* Changes the tables that are known, so that contexts of attached tools (bits) may see calls, and
 * puts back what none of them wants.  On a thread of ours: asks the loader. */
void intercept_install(uint32_t tools);

/* The same for a table that is being registered just now, on the thread that does. */
void intercept_add(const struct agent_table *table);

/* How many entries still hold our stubs: somebody else has changed them, and leads to us. */
unsigned intercept_left(void);

/* In a forked child: whoever changed something is not there. */
void intercept_adopt(void);

/* Reads a table, or a part of HSA's: its slots and how many; 0 when it is none. */
struct api_table;
unsigned intercept_read(const struct agent_table *known, const struct api_table *table,
			uint64_t **ret);

/* What is behind a slot: the runtime's own function, or whoever was there before us. */
uint64_t intercept_original(const struct api_table *table, unsigned operation,
			    const uint64_t *slots);

/* Is our stub in the entries of hsa_init() and hsa_shut_down(), and on; and how often was it put
 * there?  As long as that is the same, no end of the runtime was missed while somebody else's
 * function was in front of it.  While there is a queue of device_queue.h it
 * stays.  Only entries of the core table that is given are looked at, which the caller holds. */
bool intercept_sees_restarts(const uint64_t *entries, uint32_t *ret_puts);
/* Is somebody else's function in front of it?  Else it is not there yet, or not any more. */
bool intercept_hides_restarts(const uint64_t *entries);

/* Do all calls by which the program uses queues lead to us?  Of that core table, likewise. */
bool intercept_sees_queues(const uint64_t *entries);

/* Does its entry hold our stub?  On a thread that is in a call of its library. */
struct sdk_slot;
bool intercept_is_in(const struct sdk_slot *slot);
/* Or somebody else's function, which may lead to it? */
bool intercept_is_hidden(const struct sdk_slot *slot);
