/*
 * Runs on threads of tools. Enters the loader outside the gate, calls the runtime inside it.
 */
#include "target/amd/hsa/functions.h"

#include "target/amd/sinks/sdk/status.h"
#include "target/amd/tables/intercept.h"
#include "target/amd/tables/signature.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

#define TABLE_CORE     0u
#define TABLE_AMD      1u
#define INFO_DEVICE    17u
#define INFO_NODE      0xa004u
#define DEVICE_CPU     0u
#define POOL_SEGMENT   0u
#define POOL_FLAGS     1u
#define POOL_ALLOWED   5u
#define SEGMENT_GLOBAL 0u
#define FINE_GRAINED   2u

/* In the order of struct hsa_functions. */
static const struct {
	uint8_t table;
	const char *name;
} names[] = {
	{ TABLE_CORE, "hsa_iterate_agents" },
	{ TABLE_CORE, "hsa_agent_get_info" },
	{ TABLE_CORE, "hsa_queue_create" },
	{ TABLE_CORE, "hsa_queue_destroy" },
	{ TABLE_CORE, "hsa_queue_load_write_index_relaxed" },
	{ TABLE_CORE, "hsa_queue_cas_write_index_scacq_screl" },
	{ TABLE_CORE, "hsa_signal_create" },
	{ TABLE_CORE, "hsa_signal_destroy" },
	{ TABLE_CORE, "hsa_signal_load_scacquire" },
	{ TABLE_CORE, "hsa_signal_store_screlease" },
	{ TABLE_AMD, "hsa_amd_agent_iterate_memory_pools" },
	{ TABLE_AMD, "hsa_amd_memory_pool_get_info" },
	{ TABLE_AMD, "hsa_amd_memory_pool_allocate" },
	{ TABLE_AMD, "hsa_amd_memory_pool_free" },
	{ TABLE_AMD, "hsa_amd_agents_allow_access" },
	{ TABLE_CORE, "hsa_queue_load_read_index_scacquire" },
	{ TABLE_AMD, "hsa_amd_queue_get_info" },
};
#define NEEDED (ARRAY_SIZE(names) - 2)
_Static_assert(sizeof(struct hsa_functions) == ARRAY_SIZE(names) * sizeof(void *), "each");

static bool table_hold(const struct agent_table *known, struct hsa_library *ret)
{
	const void *root = (const void *)known->parts[0];
	uint64_t *entries;

	ret->handle = libc_hold(root);
	if (!ret->handle)
		return false;
	/* The core table may be in another library, which is not held. */
	if (!intercept_read(known, &api_tables[TABLE_CORE], &entries) ||
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
	uint32_t count = __atomic_load_n(&agent_page.table_count, __ATOMIC_ACQUIRE);

	hsa_library_leave(ret);
	/* Only the first of several registrations has limpet's stubs, see intercept.c. */
	for (uint32_t i = 0; i < count; i++) {
		const struct agent_table *known = &agent_page.tables[i];

		if (!known->instance && text_equal(known->name, "hsa") && table_hold(known, ret))
			return true;
	}
	return false;
}

void hsa_library_leave(struct hsa_library *self)
{
	if (self->handle)
		libc_close(self->handle);
	*self = (struct hsa_library){ NULL };
}

static uint64_t function_find(const struct agent_table *known, unsigned table, const char *name)
{
	const struct api_table *api = &api_tables[table];
	uint64_t *slots;
	unsigned count = MIN(intercept_read(known, api, &slots), (unsigned)api->count);

	for (unsigned i = 0; i < count; i++)
		if (text_equal(api->signatures[i].name, name))
			return intercept_original(api, i, slots);
	return 0;
}

int hsa_functions_find(const struct hsa_library *library, struct hsa_functions *ret)
{
	uint64_t *functions = (uint64_t *)ret;

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		bool is_own;

		functions[i] = function_find(library->known, names[i].table, names[i].name);
		is_own = functions[i] &&
			 libc_are_of_one((const void *)functions[i], library->entries);
		if (i < NEEDED && !is_own)
			return functions[i] ? SDK_NO_PROFILE_QUEUE : SDK_HSA_NOT_LOADED;
		if (!is_own)
			functions[i] = 0;
	}
	return SDK_SUCCESS;
}

struct hsa_search {
	const struct hsa_functions *hsa;
	uint32_t node;
	uint64_t found;
};

static int agent_match(uint64_t agent, void *data)
{
	struct hsa_search *search = data;
	uint32_t node = UINT32_MAX;

	if (!search->hsa->agent_info(agent, INFO_NODE, &node) && node == search->node)
		search->found = agent;
	return 0;
}

uint64_t hsa_agent_of_node(const struct hsa_functions *hsa, uint32_t node)
{
	struct hsa_search search = { hsa, node, 0 };

	return hsa->iterate_agents(agent_match, &search) ? 0 : search.found;
}

static int pool_match(uint64_t pool, void *data)
{
	struct hsa_search *search = data;
	const struct hsa_functions *hsa = search->hsa;
	uint32_t segment = UINT32_MAX, flags = 0;
	bool is_allowed = false;

	if (!hsa->pool_info(pool, POOL_SEGMENT, &segment) && segment == SEGMENT_GLOBAL &&
	    !hsa->pool_info(pool, POOL_FLAGS, &flags) && flags & FINE_GRAINED &&
	    !hsa->pool_info(pool, POOL_ALLOWED, &is_allowed) && is_allowed && !search->found)
		search->found = pool;
	return 0;
}

static int agent_pools(uint64_t agent, void *data)
{
	struct hsa_search *search = data;
	uint32_t kind = UINT32_MAX;

	if (!search->hsa->agent_info(agent, INFO_DEVICE, &kind) && kind == DEVICE_CPU)
		(void)search->hsa->iterate_pools(agent, pool_match, search);
	return 0;
}

uint64_t hsa_host_pool(const struct hsa_functions *hsa)
{
	struct hsa_search search = { hsa, 0, 0 };

	(void)hsa->iterate_agents(agent_pools, &search);
	return search.found;
}
