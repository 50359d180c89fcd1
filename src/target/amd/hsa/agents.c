/*
 * One thread queries; others read what is complete.
 */
#include "target/amd/hsa/agents.h"

#include "target/amd/events/events.h"
#include "target/amd/hsa/functions.h"
#include "target/runtime/hsa_gate.h"

#define AGENTS_MAX   128u
#define POOLS_MAX    512u
#define INFO_NAME    0u
#define INFO_VENDOR  1u
#define INFO_DEVICE  17u
#define INFO_NODE    0xa004u
#define INFO_PRODUCT 0xa009u
#define QUEUE_AGENT  0u

static struct hsa_agent agents[AGENTS_MAX];
static struct {
	uint64_t pool, device;
} pools[POOLS_MAX];
static uint32_t agent_count, pool_count;
static uint32_t is_asking, has_answered;

static int note_pool(uint64_t pool, void *data)
{
	uint32_t count = pool_count;

	if (count == POOLS_MAX)
		return 0;
	pools[count].pool = pool;
	pools[count].device = ((const struct hsa_agent *)data)->node;
	/* Release: pairs with the acquire in agent_device_of_pool(). */
	__atomic_store_n(&pool_count, count + 1, __ATOMIC_RELEASE);
	return 0;
}

static int note_agent(uint64_t handle, void *data)
{
	struct hsa_agent *agent = &agents[agent_count];

	(void)data;
	if (agent_count == AGENTS_MAX)
		return 0;
	*agent = (struct hsa_agent){ .handle = handle };
	if (hsa_calls.agent_info(handle, INFO_DEVICE, &agent->kind) ||
	    hsa_calls.agent_info(handle, INFO_NODE, &agent->node))
		return 0;
	(void)hsa_calls.agent_info(handle, INFO_NAME, agent->name);
	(void)hsa_calls.agent_info(handle, INFO_VENDOR, agent->vendor);
	(void)hsa_calls.agent_info(handle, INFO_PRODUCT, agent->product);
	(void)hsa_calls.iterate_pools(handle, note_pool, agent);
	(void)hsa_calls.iterate_regions(handle, note_pool, agent);
	/* Release: pairs with agent_at(). */
	__atomic_store_n(&agent_count, agent_count + 1, __ATOMIC_RELEASE);
	return 0;
}

bool agents_are_known(void)
{
	return __atomic_load_n(&has_answered, __ATOMIC_ACQUIRE);
}

/* The gate is shut while the application starts the runtime or shuts it down. */
bool agents_ask(void)
{
	if (agents_are_known())
		return true;
	if (__atomic_exchange_n(&is_asking, 1, __ATOMIC_ACQUIRE))
		return false;
	if (hsa_find(NEED_AGENTS) && hsa_gate_enter()) {
		agent_count = pool_count = 0;
		if (!hsa_calls.iterate_agents(note_agent, NULL))
			/* Release: pairs with agents_are_known(). */
			__atomic_store_n(&has_answered, 1, __ATOMIC_RELEASE);
		hsa_gate_leave();
	}
	__atomic_store_n(&is_asking, 0, __ATOMIC_RELEASE);
	return agents_are_known();
}

void agents_forget(void)
{
	__atomic_store_n(&has_answered, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&agent_count, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&pool_count, 0, __ATOMIC_RELEASE);
}

void agents_adopt(void)
{
	is_asking = 0;
}

const struct hsa_agent *agent_at(unsigned index)
{
	return index < __atomic_load_n(&agent_count, __ATOMIC_ACQUIRE) ? &agents[index] : NULL;
}

uint64_t agent_device(uint64_t agent)
{
	const struct hsa_agent *at;

	for (unsigned i = 0; (at = agent_at(i)); i++)
		if (at->handle == agent)
			return at->node;
	return DEVICE_NONE;
}

uint64_t agent_device_of_pool(uint64_t pool)
{
	uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (pools[i].pool == pool)
			return pools[i].device;
	return DEVICE_NONE;
}

uint64_t agent_of_device(uint64_t device)
{
	const struct hsa_agent *at;

	for (unsigned i = 0; (at = agent_at(i)); i++)
		if (at->node == device)
			return at->handle;
	return 0;
}

static uint64_t agent_only_device(void)
{
	const struct hsa_agent *at;
	uint64_t only = 0;

	for (unsigned i = 0; (at = agent_at(i)); i++) {
		if (!at->node)
			continue;
		if (only)
			return 0;
		only = at->handle;
	}
	return only;
}

uint64_t agent_of_queue(const struct hsa_queue *queue)
{
	uint64_t agent = 0;

	if (hsa_calls.queue_info && !hsa_calls.queue_info(queue, QUEUE_AGENT, &agent) && agent)
		return agent;
	return agent_only_device();
}
