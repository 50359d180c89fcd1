/*
 * Installs limpet's stubs in the entries of API tables, and removes them.
 */
#pragma once

#include "target/amd/tables/call.h"

/* Decides which calls lead to limpet, and to whom; set once, before the first table comes. */
struct intercept_policy {
	/* The slot has been given a function: fills in its handlers and what its sinks need. */
	void (*prepare)(struct call_slot *slot);
	/* Must the entry hold limpet's stub, as long as who is attached now stays? */
	bool (*wants)(const struct call_slot *slot);
	/* Before a round of questions or updates. */
	void (*begin)(void);
	/* Stores who sees its calls, is_on last. */
	void (*update)(struct call_slot *slot);
	/* HSA's table for tools, which is no API table, but is found like one. */
	void (*change_tools_table)(uint64_t *entries, unsigned count);
};
void intercept_use(const struct intercept_policy *policy);

/* Updates all slots: called whenever a sink wants other calls. Any thread. */
void intercept_update(void);

/* What a pass over all tables has changed. */
struct intercept_counts {
	uint32_t unwritable; /* entries that could not be made writable */
	uint32_t refused;    /* functions for which there is no slot */
	uint32_t restored;
	uint32_t foreign; /* holds another tool's function, or was unmapped: left unchanged */
};

/* Installs stubs in the known tables where they are wanted, and removes others. Called on limpet's
 * threads: iterates the loader's modules. `ret` may be NULL. */
void intercept_install(struct intercept_counts *ret);

/* The same for a table that is being registered, on the registering thread. */
struct agent_table;
void intercept_add(const struct agent_table *table);

/* How many stubs could not be removed: another tool's function in the entry leads to the stub. */
unsigned intercept_left(void);

/* In a forked child: releases locks of threads that do not exist there. */
void intercept_adopt(void);

/* Visits each slot that was ever given a function. */
void intercept_each(void (*visit)(struct call_slot *slot, void *data), void *data);
/* The slot of that function in a live table, by its entries; NULL: it was never intercepted. */
struct call_slot *intercept_find(const uint64_t *entries, enum api_table_number number,
				 unsigned operation);

/* Does the entry hold limpet's stub? Called on a thread that is in a call of its library. */
bool intercept_is_in(const struct call_slot *slot);
/* Does it hold another tool's function, which may lead to the stub? */
bool intercept_is_hidden(const struct call_slot *slot);
/* Neither of them: the runtime has reset it, or limpet has removed its stub. */
bool intercept_is_out(const struct call_slot *slot);
/* How often the stub was put again after the runtime had reset the entry. Read after the entry, it
 * includes the put of the stub that was seen there. */
uint16_t intercept_resets(const struct call_slot *slot);

/* How often stubs were stored in the entries of hsa_init() and hsa_shut_down(). */
uint32_t intercept_restart_puts(void);
/* True if limpet's stubs are in those entries, and active. While the count above is the same,
 * limpet has missed no shutdown behind another tool's function. Reads only entries of the given
 * core table, whose library the caller holds. */
bool intercept_sees_restarts(const uint64_t *entries);
/* Is another tool's function in front of one of these stubs? If not, the stub was never there, or
 * is gone. */
bool intercept_hides_restarts(const uint64_t *entries);
/* Do all application calls that use queues lead to limpet? For that core table, likewise. */
bool intercept_sees_queues(const uint64_t *entries);
