/*
 * HSA functions that limpet itself calls, behind its own hooks; and the public layouts that it
 * reads. A program that uses HSA without HIP writes packets into a ring and rings the queue's
 * doorbell, which is a signal; the device decrements a packet's completion signal after executing
 * the packet, and stores begin and end there.
 */
#pragma once

#include "target/amd/hsa/layouts.h"

#include <stdbool.h>

struct hsa_time {
	uint64_t begin_ns, end_ns; /* of CLOCK_BOOTTIME */
};

typedef bool hsa_on_signal(int64_t value, void *data);
typedef int hsa_each_executable(uint64_t executable, void *data);
typedef int hsa_each_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *data);

struct hsa_calls {
	int (*signal_create)(int64_t value, uint32_t count, const void *consumers, uint64_t *ret);
	int (*signal_destroy)(uint64_t signal);
	int64_t (*signal_load)(uint64_t signal);
	void (*signal_store)(uint64_t signal, int64_t value);
	int (*on_signal)(uint64_t signal, uint32_t condition, int64_t value, hsa_on_signal *call,
			 void *data);
	int (*profile_queue)(const struct hsa_queue *queue, int is_on);
	int (*profile_copies)(bool is_on);
	int (*dispatch_time)(uint64_t agent, uint64_t signal, struct hsa_time *ret);
	int (*copy_time)(uint64_t signal, struct hsa_time *ret);
	int (*system_info)(uint32_t what, void *ret);
	int (*extension)(uint16_t extension, uint16_t version, size_t size, void *ret);
	int (*executable_info)(uint64_t executable, uint32_t what, void *ret);
	int (*each_symbol)(uint64_t executable, uint64_t agent, hsa_each_symbol *visit, void *data);
	int (*symbol_info)(uint64_t symbol, uint32_t what, void *ret);
	/* The rest may be NULL: */
	int (*queue_info)(const struct hsa_queue *queue, uint32_t what, void *ret);
	uint64_t (*load_read)(const struct hsa_queue *queue);
	uint64_t (*load_write)(const struct hsa_queue *queue);
	uint64_t (*cas_write)(const struct hsa_queue *queue, uint64_t expected, uint64_t value);
	void (*ring)(uint64_t doorbell, int64_t value);
	int (*queue_create)(uint64_t agent, uint32_t size, uint32_t type, void *call, void *data,
			    uint32_t private_bytes, uint32_t group_bytes,
			    const struct hsa_queue **ret);
	int (*queue_destroy)(const struct hsa_queue *queue);
	int (*pool_info)(uint64_t pool, uint32_t what, void *ret);
	int (*pool_allocate)(uint64_t pool, size_t size, uint32_t flags, void **ret);
	int (*pool_free)(void *memory);
	int (*allow_access)(uint32_t count, const uint64_t *agents, const uint32_t *flags,
			    const void *memory);
};

/* One of the two tables with these functions. */
struct slot_list;
struct hsa_slots {
	const uint64_t *slots;
	unsigned count;
	const struct slot_list *list; /* their names */
};

/* The slot of a function; NULL if there is none. */
const uint64_t *hsa_slots_at(const struct hsa_slots *table, const char *name);
/* The slot's function, behind limpet's hook; 0 if there is none. */
uint64_t hsa_slots_find(const struct hsa_slots *table, const char *name);

/* Finds the functions; false if a needed one is missing. On limpet's threads. */
bool hsa_calls_find(const struct hsa_slots *core, const struct hsa_slots *amd_ext);

/* The functions found last; any thread that handles device work may call them. */
extern struct hsa_calls hsa_calls;
