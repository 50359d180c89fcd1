/*
 * The counters that devices have, as the host has told them (shared/wire/catalog.h): nothing in the
 * target reads definitions.  Without a host there are none.
 */
#pragma once

#include "shared/wire/catalog.h"
#include "target/sdk/abi.h"

#include <stdbool.h>

/* On the control thread: the host's memory, of that size.  0 or -errno, -EBUSY where a tool's
 * thread does not leave its turn.  What tools hold of an earlier one stays. */
int counters_learn(int fd, uint64_t size);
/* All tools were finalized: none has ids, and the next may bring other definitions. */
void counters_release(void);
/* No tool is left: gives all memory back. */
void counters_close(void);

/* For tools.  NULL: the host has told none. */
const struct catalog *counters_catalog(void);
/* Until the host tells one again; in one's turn.  False: a tool has seen it, and may have ids. */
bool counters_hide(void);
bool counters_are_hidden(void);
/* By the SDK's handle of an agent; NULL: it has no counters. */
const struct catalog_device *counters_device(const struct catalog *catalog,
					     struct sdk_handle agent);
/* Is there such an agent at all? */
bool counters_know_agent(struct sdk_handle agent);
/* By its id; NULL: there is none. */
const struct catalog_counter *counters_find(const struct catalog *catalog, uint64_t id);
/* The first device that has it. */
const struct catalog_device *counters_device_of(const struct catalog *catalog, uint64_t id);
/* How many it has by now. */
static inline uint32_t device_count(const struct catalog_device *device)
{
	/* Acquire: pairs with who adds one (created.c). */
	return __atomic_load_n(&device->count, __ATOMIC_ACQUIRE);
}
static inline bool device_has(const struct catalog_device *device, uint64_t id)
{
	return id > device->first && id - device->first <= device_count(device);
}

/* The one that is told now, as memory of our own with room for more; in one's turn.  NULL: there is
 * no memory for it. */
struct catalog *counters_own_catalog(void);
/* Room for so many more in a list of it; NULL: there is none. */
void *counters_grow(struct catalog *catalog, enum catalog_list_kind list, uint32_t count);

/* Turns: what is made once is made by one thread at a time.  False: another takes too long. */
bool counters_enter(void);
void counters_leave(void);
/* In a forked child: whose turn it was is not there. */
void counters_adopt(void);

/* Memory, zeroed, until counters_close(); in one's turn.  NULL: there is none. */
void *counters_memory(size_t size);
