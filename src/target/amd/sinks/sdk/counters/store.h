/*
 * The counters of devices, in a catalog that the host sends (shared/wire/catalog.h): the target
 * parses no definitions. Without a host there are no counters.
 */
#pragma once

#include "shared/wire/catalog.h"
#include "target/amd/sinks/sdk/base/abi.h"

#include <stdbool.h>

/* On the control thread: reads the host's memory, `size` bytes. 0 or -errno; -EBUSY: a tool's
 * thread holds counters_enter() too long. Earlier catalogs stay valid for tools. */
int counters_learn(int fd, uint64_t size);
/* All tools were finalized: no tool has ids; under counters_enter(). */
void counters_release(void);
/* No tool is left: unmaps all memory. */
void counters_close(void);

/* For tools. NULL: the host has sent no catalog. */
const struct catalog *counters_catalog(void);
/* Hides it until the host sends one; under counters_enter(). False: a tool may have its ids. */
bool counters_hide(void);
bool counters_are_hidden(void);
/* The entry of an agent, by the SDK's handle; NULL: it has no counters. */
const struct catalog_device *counters_device(const struct catalog *catalog,
					     struct sdk_handle agent);
/* Does an agent with that handle exist? */
bool counters_know_agent(struct sdk_handle agent);
/* The counter with that id; NULL: none. */
const struct catalog_counter *counters_find(const struct catalog *catalog, uint64_t id);
/* The first device with that counter. */
const struct catalog_device *counters_device_of(const struct catalog *catalog, uint64_t id);
/* How many counters the device has by now. */
static inline uint32_t device_count(const struct catalog_device *device)
{
	/* Acquire: pairs with devices_publish() in created.c. */
	return __atomic_load_n(&device->count, __ATOMIC_ACQUIRE);
}
static inline bool device_has(const struct catalog_device *device, uint64_t id)
{
	return id > device->first && id - device->first <= device_count(device);
}

/* The current catalog, copied into memory with room for additions; under counters_enter(). NULL: no
 * memory. */
struct catalog *counters_own_catalog(void);
/* Reserves `count` more items in a list of it; NULL: no room. */
void *counters_grow(struct catalog *catalog, enum catalog_list_kind list, uint32_t count);

/* A lock for everything that is made once. False: another thread holds it too long. */
bool counters_enter(void);
void counters_leave(void);
/* In a forked child: the holder does not exist. */
void counters_adopt(void);

/* Zeroed memory, valid until counters_close(); under counters_enter(). NULL: none. */
void *counters_memory(size_t size);
