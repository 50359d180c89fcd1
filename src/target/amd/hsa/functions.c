/*
 * Enters the loader outside of the gate, calls the runtime inside it.
 */
#include "target/amd/hsa/functions.h"

#include "target/amd/tables/read.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"

#define INFO_DEVICE    17u
#define INFO_NODE      0xa004u
#define DEVICE_CPU     0u
#define POOL_SEGMENT   0u
#define POOL_FLAGS     1u
#define POOL_ALLOWED   5u
#define SEGMENT_GLOBAL 0u
#define FINE_GRAINED   2u

#define CORE   API_HSA_CORE
#define AMD    API_HSA_AMD
#define AGENTS NEED_AGENTS
#define TIMES  NEED_TIMES
#define CODE   NEED_CODE
#define QUEUES (NEED_QUEUES | NEED_RINGS)
#define RINGS  NEED_RINGS

/* In the order of struct hsa_functions. */
static const struct {
	uint8_t table, needs;
	const char *name;
} names[] = {
	{ CORE, TIMES, "hsa_system_get_info" },
	{ CORE, CODE, "hsa_system_get_major_extension_table" },
	{ CORE, AGENTS | QUEUES, "hsa_iterate_agents" },
	{ CORE, AGENTS | QUEUES, "hsa_agent_get_info" },
	{ CORE, AGENTS, "hsa_agent_iterate_regions" },
	{ AMD, AGENTS | QUEUES, "hsa_amd_agent_iterate_memory_pools" },
	{ AMD, QUEUES, "hsa_amd_memory_pool_get_info" },
	{ AMD, QUEUES, "hsa_amd_memory_pool_allocate" },
	{ AMD, QUEUES, "hsa_amd_memory_pool_free" },
	{ AMD, QUEUES, "hsa_amd_agents_allow_access" },
	{ CORE, TIMES | QUEUES, "hsa_signal_create" },
	{ CORE, TIMES | QUEUES, "hsa_signal_destroy" },
	{ CORE, TIMES | QUEUES, "hsa_signal_load_scacquire" },
	{ CORE, TIMES | QUEUES, "hsa_signal_store_screlease" },
	{ AMD, TIMES, "hsa_amd_signal_async_handler" },
	{ CORE, NEED_QUEUES, "hsa_queue_create" },
	{ CORE, NEED_QUEUES, "hsa_queue_destroy" },
	{ AMD, 0, "hsa_amd_queue_get_info" },
	{ CORE, RINGS, "hsa_queue_load_read_index_scacquire" },
	{ CORE, QUEUES, "hsa_queue_load_write_index_scacquire" },
	{ CORE, QUEUES, "hsa_queue_cas_write_index_scacq_screl" },
	{ AMD, TIMES, "hsa_amd_profiling_set_profiler_enabled" },
	{ AMD, TIMES, "hsa_amd_profiling_async_copy_enable" },
	{ AMD, TIMES, "hsa_amd_profiling_get_dispatch_time" },
	{ AMD, TIMES, "hsa_amd_profiling_get_async_copy_time" },
	{ CORE, CODE, "hsa_executable_iterate_agent_symbols" },
	{ CORE, CODE, "hsa_executable_symbol_get_info" },
	{ CORE, 0, "hsa_executable_get_info" },
};
_Static_assert(sizeof(struct hsa_functions) == ARRAY_SIZE(names) * sizeof(void *), "each");

struct hsa_functions hsa_calls;

bool hsa_find(unsigned needs)
{
	const struct agent_table *tables, *known = NULL;
	bool is_whole = true;

	for (uint32_t i = tables_known(&tables); i--;)
		if (text_equal(tables[i].name, "hsa"))
			known = &tables[i];
	for (unsigned i = 0; known && i < ARRAY_SIZE(names); i++) {
		uint64_t found = table_find_function(known, (enum api_table_number)names[i].table,
						     names[i].name);

		((uint64_t *)&hsa_calls)[i] = found;
		is_whole &= found || !(names[i].needs & needs);
	}
	return known && is_whole;
}

static bool table_hold(const struct agent_table *known, struct hsa_library *ret)
{
	const void *root = (const void *)known->parts[0];
	uint64_t *entries;

	ret->handle = libc_hold(root);
	if (!ret->handle)
		return false;
	/* The core table may be in another library, which is not held. */
	if (!table_read(known, &api_tables[API_HSA_CORE], &entries) ||
	    !libc_are_of_one(entries, root)) {
		hsa_library_leave(ret);
		return false;
	}
	ret->known = known;
	ret->entries = entries;
	return true;
}

bool hsa_library_hold(struct hsa_library *ret)
{
	const struct agent_table *tables;
	uint32_t count = tables_known(&tables);

	hsa_library_leave(ret);
	for (uint32_t i = 0; i < count; i++)
		if (!tables[i].instance && text_equal(tables[i].name, "hsa") &&
		    table_hold(&tables[i], ret))
			return true;
	return false;
}

void hsa_library_leave(struct hsa_library *self)
{
	if (self->handle)
		libc_close(self->handle);
	*self = (struct hsa_library){ NULL };
}

enum hsa_lack hsa_find_own(const struct hsa_library *library, unsigned needs,
			   struct hsa_functions *ret)
{
	uint64_t *functions = (uint64_t *)ret;

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		uint64_t found = table_find_function(
			library->known, (enum api_table_number)names[i].table, names[i].name);
		bool is_own = found && libc_are_of_one((const void *)found, library->entries);

		if (!is_own && names[i].needs & needs)
			return found ? LACKS_OWN_FUNCTIONS : LACKS_FUNCTIONS;
		functions[i] = is_own ? found : 0;
	}
	return LACKS_NOTHING;
}

struct hsa_search {
	const struct hsa_functions *functions;
	uint32_t node;
	uint64_t found;
};

static int agent_match(uint64_t agent, void *data)
{
	struct hsa_search *search = data;
	uint32_t node = UINT32_MAX;

	if (!search->functions->agent_info(agent, INFO_NODE, &node) && node == search->node)
		search->found = agent;
	return 0;
}

uint64_t hsa_agent_of_node(const struct hsa_functions *functions, uint32_t node)
{
	struct hsa_search search = { functions, node, 0 };

	return functions->iterate_agents(agent_match, &search) ? 0 : search.found;
}

static int pool_match(uint64_t pool, void *data)
{
	struct hsa_search *search = data;
	const struct hsa_functions *functions = search->functions;
	uint32_t segment = UINT32_MAX, flags = 0;
	bool is_allowed = false;

	if (!functions->pool_info(pool, POOL_SEGMENT, &segment) && segment == SEGMENT_GLOBAL &&
	    !functions->pool_info(pool, POOL_FLAGS, &flags) && flags & FINE_GRAINED &&
	    !functions->pool_info(pool, POOL_ALLOWED, &is_allowed) && is_allowed && !search->found)
		search->found = pool;
	return 0;
}

static int agent_pools(uint64_t agent, void *data)
{
	struct hsa_search *search = data;
	uint32_t kind = UINT32_MAX;

	if (!search->functions->agent_info(agent, INFO_DEVICE, &kind) && kind == DEVICE_CPU)
		(void)search->functions->iterate_pools(agent, pool_match, search);
	return 0;
}

uint64_t hsa_host_pool(const struct hsa_functions *functions)
{
	struct hsa_search search = { functions, 0, 0 };

	(void)functions->iterate_agents(agent_pools, &search);
	return search.found;
}
