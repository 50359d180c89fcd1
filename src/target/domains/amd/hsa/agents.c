/*
 * Queried once, on limpet's thread, through the runtime's own functions; read by every thread. A
 * device's number is that of its node, as in HIP's reports; node 0 is the host.
 */
#include "target/domains/amd/hsa/agents.h"

#include "target/domains/work.h"
#include "target/runtime/text.h"
#include "target/runtime/topology.h"

#include <stdbool.h>

/* Indices in the tables. */
#define CORE_ITERATE_AGENTS 5u
#define CORE_AGENT_INFO     6u
#define CORE_REGIONS        27u
#define AMD_POOLS           12u

/* Attributes of an agent. */
#define INFO_NAME    0u
#define INFO_VENDOR  1u
#define INFO_DEVICE  17u
#define INFO_NODE    0xa004u /* the driver's node */
#define INFO_PRODUCT 0xa009u
#define KINDS        2u /* kinds of numbered agents: 0 processors, 1 GPUs */
#define LETTERS      64u

#define DEVICES_MAX 128u
#define POOLS_MAX   512u
#define TEXT_MAX    3072u
#define FILE_MAX    2048u

typedef int each_agent(uint64_t agent, void *data);
typedef int iterate_agents(each_agent *visit, void *data);
typedef int agent_info(uint64_t agent, uint32_t what, void *ret);
typedef int iterate_pools(uint64_t agent, each_agent *visit, void *data);

struct functions {
	iterate_agents *agents;
	agent_info *info;
	iterate_pools *pools, *regions;
	uint32_t counts[KINDS]; /* agents so far, by kind */
};

static char texts[DEVICES_MAX][TEXT_MAX];
static struct {
	uint64_t pool, device;
} pools[POOLS_MAX];
static uint64_t agent_of_node[DEVICES_MAX]; /* 0: none */
static uint32_t pool_count, asked_in;

_Static_assert(DEVICES_MAX <= WORK_NUMBERS, "they have names");

struct visit {
	const struct functions *functions;
	uint64_t device;
};

static int note_pool(uint64_t pool, void *data)
{
	uint32_t count = pool_count;

	if (count == POOLS_MAX)
		return 0;
	pools[count].pool = pool;
	pools[count].device = ((const struct visit *)data)->device;
	/* Release: pairs with the acquire in agents_of_pool(). */
	__atomic_store_n(&pool_count, count + 1, __ATOMIC_RELEASE);
	return 0;
}

static void add_line(char *text, const char *key, const char *value)
{
	text_add(text, TEXT_MAX, text_length(text), key);
	text_add(text, TEXT_MAX, text_length(text), value);
	text_add(text, TEXT_MAX, text_length(text), "\n");
}

/* Writes the index within its kind, as HSA counts: records contain only used devices. */
static void add_index(struct functions *functions, uint32_t kind, char *text)
{
	if (kind >= KINDS)
		return;
	text_add(text, TEXT_MAX, text_length(text), "index=");
	text_add_number(text, TEXT_MAX, text_length(text), functions->counts[kind]++);
	text_add(text, TEXT_MAX, text_length(text), "\n");
}

static void agent_describe(struct functions *functions, uint64_t agent, uint32_t kind, char *text)
{
	static const struct {
		const char *key;
		uint32_t what;
	} lines[] = { { "name=", INFO_NAME },
		      { "vendor=", INFO_VENDOR },
		      { "product=", INFO_PRODUCT } };

	text[0] = '\0';
	add_line(text, "type=", kind == 1 ? "gpu" : kind == 0 ? "cpu" : "other");
	add_index(functions, kind, text);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		char value[LETTERS + 1] = "";

		if (!functions->info(agent, lines[i].what, value))
			add_line(text, lines[i].key, value);
	}
}

/* The driver's lines "name value" become "name=value". */
static void text_add_properties(char *text, const char *properties)
{
	size_t at = text_length(text);

	for (; *properties && at + 1 < TEXT_MAX; properties++)
		text[at++] = *properties == ' ' ? '=' : *properties;
	text[at] = '\0';
}

static void text_add_file(char *text, unsigned node, const char *name, const char *key)
{
	char file[FILE_MAX];

	if (!topology_read(node, name, file, sizeof(file)))
		return;
	text_add(text, TEXT_MAX, text_length(text), key);
	if (key[0])
		text_add(text, TEXT_MAX, text_length(text), file);
	else
		text_add_properties(text, file);
}

/* Adds the driver's description of the node: properties that HSA does not have. */
static void agent_describe_node(unsigned node, char *text)
{
	text_add_file(text, node, "properties", "");
	text_add_file(text, node, "gpu_id", "gpu_id=");
	text_add_file(text, node, "name", "model=");
}

static int note_agent(uint64_t agent, void *data)
{
	struct functions *functions = data;
	uint32_t kind = 0, node = 0;
	struct visit visit = { functions, 0 };

	if (functions->info(agent, INFO_DEVICE, &kind) ||
	    functions->info(agent, INFO_NODE, &node) || node >= DEVICES_MAX)
		return 0;
	visit.device = node;
	agent_describe(functions, agent, kind, texts[node]);
	agent_describe_node(node, texts[node]);
	__atomic_store_n(&agent_of_node[node], agent, __ATOMIC_RELAXED);
	(void)functions->pools(agent, note_pool, &visit);
	(void)functions->regions(agent, note_pool, &visit);
	return 0;
}

void agents_ask(const uint64_t *core, unsigned core_count, const uint64_t *amd_ext,
		unsigned amd_count)
{
	struct functions functions;

	if (agents_are_known() || core_count <= CORE_REGIONS || amd_count <= AMD_POOLS)
		return;
	functions = (struct functions){ (iterate_agents *)core[CORE_ITERATE_AGENTS],
					(agent_info *)core[CORE_AGENT_INFO],
					(iterate_pools *)amd_ext[AMD_POOLS],
					(iterate_pools *)core[CORE_REGIONS],
					{ 0 } };
	if (!functions.agents || !functions.info || !functions.pools || !functions.regions)
		return;
	agents_forget();
	if (!functions.agents(note_agent, &functions))
		/* Release: pairs with agents_are_known(). */
		__atomic_store_n(&asked_in, writers_session(), __ATOMIC_RELEASE);
}

bool agents_are_known(void)
{
	return __atomic_load_n(&asked_in, __ATOMIC_ACQUIRE) == writers_session();
}

void agents_forget(void)
{
	__atomic_store_n(&asked_in, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&pool_count, 0, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < DEVICES_MAX; i++)
		__atomic_store_n(&agent_of_node[i], 0, __ATOMIC_RELAXED);
}

uint64_t agents_of_pool(uint64_t pool)
{
	uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (pools[i].pool == pool)
			return pools[i].device;
	return DEVICE_UNKNOWN;
}

void agents_name(struct writer *writer, uint64_t device)
{
	if (device < DEVICES_MAX && texts[device][0])
		work_name(writer, NAME_DEVICE, device, texts[device]);
	else if (device < DEVICES_MAX)
		work_name(writer, NAME_DEVICE, device,
			  device ? "type=gpu\nname=\n" : "type=cpu\nname=host\n");
}

uint64_t agents_of_agent(uint64_t agent)
{
	for (uint64_t i = 0; agent && i < DEVICES_MAX; i++)
		if (__atomic_load_n(&agent_of_node[i], __ATOMIC_RELAXED) == agent)
			return i;
	return DEVICE_UNKNOWN;
}

uint64_t agents_agent_of(uint64_t node)
{
	return node < DEVICES_MAX ? __atomic_load_n(&agent_of_node[node], __ATOMIC_RELAXED) : 0;
}

uint64_t agents_host_pool(bool (*fits)(uint64_t pool))
{
	uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (!pools[i].device && fits(pools[i].pool))
			return pools[i].pool;
	return 0;
}

struct only {
	uint64_t agent;
	unsigned count;
};

static void count_device(uint64_t agent, void *data)
{
	struct only *only = data;

	only->agent = agent;
	only->count++;
}

uint64_t agents_only_device(void)
{
	struct only only = { 0, 0 };

	agents_each_device(count_device, &only);
	return only.count == 1 ? only.agent : 0;
}

void agents_each_device(void (*visit)(uint64_t agent, void *data), void *data)
{
	for (unsigned i = 1; i < DEVICES_MAX; i++) {
		uint64_t agent = __atomic_load_n(&agent_of_node[i], __ATOMIC_RELAXED);

		if (agent)
			visit(agent, data);
	}
}
