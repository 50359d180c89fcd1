/*
 * Finds HSA's functions in its tables. Runs on limpet's threads, one at a time.
 */
#include "target/domains/amd/hsa/calls.h"

#include "target/domains/amd/slots.h"
#include "target/hooks/table.h"
#include "target/runtime/text.h"

struct hsa_calls hsa_calls;

#define CORE 0u
#define AMD  1u
#define NEED(part, name, member)                                            \
	{                                                                   \
		part, true, offsetof(struct hsa_calls, member), "hsa_" name \
	}
#define MAY(part, name, member)                                              \
	{                                                                    \
		part, false, offsetof(struct hsa_calls, member), "hsa_" name \
	}
static const struct {
	uint8_t part;
	bool is_needed;
	uint16_t at;
	const char *name;
} wanted[] = {
	NEED(CORE, "signal_create", signal_create),
	NEED(CORE, "signal_destroy", signal_destroy),
	NEED(CORE, "signal_load_scacquire", signal_load),
	NEED(CORE, "signal_store_relaxed", signal_store),
	NEED(CORE, "system_get_info", system_info),
	NEED(CORE, "system_get_major_extension_table", extension),
	NEED(CORE, "executable_get_info", executable_info),
	NEED(CORE, "executable_iterate_agent_symbols", each_symbol),
	NEED(CORE, "executable_symbol_get_info", symbol_info),
	NEED(AMD, "amd_signal_async_handler", on_signal),
	NEED(AMD, "amd_profiling_set_profiler_enabled", profile_queue),
	NEED(AMD, "amd_profiling_async_copy_enable", profile_copies),
	NEED(AMD, "amd_profiling_get_dispatch_time", dispatch_time),
	NEED(AMD, "amd_profiling_get_async_copy_time", copy_time),
	{ AMD, false, offsetof(struct hsa_calls, queue_info), "hsa_amd_queue_get_info" },
	MAY(CORE, "queue_load_read_index_scacquire", load_read),
	MAY(CORE, "queue_load_write_index_scacquire", load_write),
	MAY(CORE, "queue_cas_write_index_scacq_screl", cas_write),
	MAY(CORE, "signal_store_screlease", ring),
	MAY(CORE, "queue_create", queue_create),
	MAY(CORE, "queue_destroy", queue_destroy),
	MAY(AMD, "amd_memory_pool_get_info", pool_info),
	MAY(AMD, "amd_memory_pool_allocate", pool_allocate),
	MAY(AMD, "amd_memory_pool_free", pool_free),
	MAY(AMD, "amd_agents_allow_access", allow_access),
};

/* The slot's value before it was hooked. */
static uint64_t behind_hook(const uint64_t *slot)
{
	uint64_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);

	return hook_is_stub(value) ? patch_old(slot) : value;
}

const uint64_t *hsa_slots_at(const struct hsa_slots *table, const char *name)
{
	const struct slot_list *list = table->list;

	for (unsigned i = 0; i < MIN(table->count, (unsigned)list->count); i++)
		if (text_equal(list->traced[i].name, name))
			return &table->slots[i];
	return NULL;
}

uint64_t hsa_slots_find(const struct hsa_slots *table, const char *name)
{
	const uint64_t *slot = hsa_slots_at(table, name);

	return slot ? behind_hook(slot) : 0;
}

bool hsa_calls_find(const struct hsa_slots *core, const struct hsa_slots *amd_ext)
{
	bool is_whole = true;

	for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++) {
		uint64_t found =
			hsa_slots_find(wanted[i].part == CORE ? core : amd_ext, wanted[i].name);

		*(uint64_t *)((char *)&hsa_calls + wanted[i].at) = found;
		is_whole &= found || !wanted[i].is_needed;
	}
	return is_whole;
}
