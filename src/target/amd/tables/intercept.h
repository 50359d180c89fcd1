/*
 * Installs limpet's stubs in API tables, and removes them.
 */
#pragma once

#include "shared/wire/page.h"

#include <stdbool.h>

/* Recomputes which contexts see which calls; called whenever contexts start or stop. */
void intercept_update(void);

/* Installs stubs in the known tables for contexts of attached tools (bits), and removes stubs that
 * no context needs. Called on limpet's threads: iterates the loader's modules. */
void intercept_install(uint32_t tools);

/* The same for a table that is being registered, on the registering thread. */
void intercept_add(const struct agent_table *table);

/* How many stubs could not be removed: another tool's function in the entry leads to the stub. */
unsigned intercept_left(void);

/* In a forked child: releases locks of threads that do not exist there. */
void intercept_adopt(void);

/* Reads an API table, or a part of HSA's: its slots and their number; 0: not a table. */
struct api_table;
unsigned intercept_read(const struct agent_table *known, const struct api_table *table,
			uint64_t **ret);

/* What a slot leads to without limpet: the runtime's function, or another tool's that was first. */
uint64_t intercept_original(const struct api_table *table, unsigned operation,
			    const uint64_t *slots);

/* True if limpet's stubs are in the entries of hsa_init() and hsa_shut_down(), and active;
 * *ret_puts counts how often stubs were stored there. While that count is the same, limpet has
 * missed no shutdown behind another tool's function. The stubs stay while device_queue.h has a
 * queue. Reads only entries of the given core table, whose library the caller holds. */
bool intercept_sees_restarts(const uint64_t *entries, uint32_t *ret_puts);
/* Is another tool's function in front of a stub? If not, the stub was never there, or is gone. */
bool intercept_hides_restarts(const uint64_t *entries);

/* Do all application calls that use queues lead to limpet? For that core table, likewise. */
bool intercept_sees_queues(const uint64_t *entries);

/* Does the entry hold limpet's stub? Called on a thread that is in a call of its library. */
struct sdk_slot;
bool intercept_is_in(const struct sdk_slot *slot);
/* Does it hold another tool's function, which may lead to the stub? */
bool intercept_is_hidden(const struct sdk_slot *slot);
