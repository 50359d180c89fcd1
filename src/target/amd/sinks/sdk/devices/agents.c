/*
 * Agents are read when a tool queries them, on its thread. The driver's files have most properties;
 * HSA adds its handles, or everything if there are no such files.
 */
#include "target/amd/sinks/sdk/devices/agents.h"

#include "target/amd/devices/devices.h"
#include "target/amd/hsa/agents.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/runtime/patience.h"
#include "target/runtime/text.h"
#include "target/runtime/topology.h"

#include <stdbool.h>
#include <string.h>

#define AGENTS_MAX   64u
#define HANDLE_FIRST 256u
#define LETTERS      AGENT_LETTERS
#define FILE_MAX     8192u

#define TURN_PAUSE_NS 100000u
#define TURN_LIMIT_NS 1000000000ull

enum { VERSION_0 = 1 };
enum { AGENT_CPU = 1, AGENT_GPU = 2 };

struct dimensions {
	uint32_t x, y, z;
};

/* Version 0 of the layout that tools see. */
struct agent {
	uint64_t size;
	struct sdk_handle id;
	uint32_t type, cpu_cores, simds, banks, caches_count, links, core_base, simd_base;
	uint32_t waves_per_simd, lds_kb, gds_kb, gws, wavefront, xccs, cus, arrays, shader_banks;
	uint32_t arrays_per_engine, cus_per_array, simds_per_cu, scratch_slots, gfx_version;
	uint16_t vendor_id, device_id;
	uint32_t location, domain, render_minor, sdma_engines, xgmi_engines, sdma_queues, cp_queues;
	uint32_t compute_clock, host_clock;
	uint32_t sdma_firmware, firmware, capability;
	uint32_t cus_per_engine, waves_per_cu, family, workgroup_max, grid_max;
	uint64_t local_bytes, hive, gpu;
	struct dimensions workgroup_dims, grid_dims;
	const void *mem_banks, *caches, *io_links;
	const char *name, *vendor, *product, *model;
	uint32_t node;
	int32_t logical_node, logical_type;
	uint32_t visibility;
	uint8_t uuid[16];
};
_Static_assert(sizeof(struct agent) == 312, "as in the headers");

typedef int agents_function(int version, const void **agents, size_t count, void *data);
static struct agent agents[AGENTS_MAX];
static struct {
	char name[LETTERS + 1], vendor[LETTERS + 1], product[LETTERS + 1], model[LETTERS + 1];
	struct part_counts parts;
} words[AGENTS_MAX];
static unsigned agent_count;
static uint32_t is_asking;
static uint32_t has_read_parts, is_reading_parts;
static bool has_driver;  /* the driver's files exist */
static uint32_t has_hsa; /* what HSA knows is in the list */

#define PROPERTY(text, member) PROPERTY_OF(struct agent, text, member)
static const struct property properties[] = {
	PROPERTY("cpu_cores_count", cpu_cores),
	PROPERTY("simd_count", simds),
	PROPERTY("cpu_core_id_base", core_base),
	PROPERTY("simd_id_base", simd_base),
	PROPERTY("max_waves_per_simd", waves_per_simd),
	PROPERTY("lds_size_in_kb", lds_kb),
	PROPERTY("gds_size_in_kb", gds_kb),
	PROPERTY("num_gws", gws),
	PROPERTY("wave_front_size", wavefront),
	PROPERTY("num_xcc", xccs),
	PROPERTY("array_count", arrays),
	PROPERTY("simd_arrays_per_engine", arrays_per_engine),
	PROPERTY("cu_per_simd_array", cus_per_array),
	PROPERTY("simd_per_cu", simds_per_cu),
	PROPERTY("max_slots_scratch_cu", scratch_slots),
	PROPERTY("gfx_target_version", gfx_version),
	PROPERTY("vendor_id", vendor_id),
	PROPERTY("device_id", device_id),
	PROPERTY("location_id", location),
	PROPERTY("domain", domain),
	PROPERTY("drm_render_minor", render_minor),
	PROPERTY("hive_id", hive),
	PROPERTY("num_sdma_engines", sdma_engines),
	PROPERTY("num_sdma_xgmi_engines", xgmi_engines),
	PROPERTY("num_sdma_queues_per_engine", sdma_queues),
	PROPERTY("num_cp_queues", cp_queues),
	PROPERTY("max_engine_clk_ccompute", compute_clock),
	PROPERTY("max_engine_clk_fcompute", host_clock),
	PROPERTY("local_mem_size", local_bytes),
	PROPERTY("fw_version", firmware),
	PROPERTY("capability", capability),
	PROPERTY("sdma_fw_version", sdma_firmware),
	PROPERTY("family_id", family),
	{ "unique_id", offsetof(struct agent, uuid), sizeof(uint64_t) },
};

/* How many parts of each kind the driver lists; later, how many were read. */
#define PARTS_PROPERTY(text, member) PROPERTY_OF(struct part_counts, text, member)
static const struct property part_properties[] = {
	PARTS_PROPERTY("mem_banks_count", banks),
	PARTS_PROPERTY("caches_count", caches),
	PARTS_PROPERTY("io_links_count", links),
};

/* Copies the first line of a file. */
static void take_line(char *letters, char *text)
{
	for (size_t i = 0; text[i]; i++)
		if (text[i] == '\n')
			text[i] = 0;
	text_add(letters, LETTERS, 0, text);
}

/* 90402 is gfx942, 90010 gfx90a. */
static void name_device(uint32_t version, char *text)
{
	static const char digits[] = "0123456789abcdef";
	size_t at = text_add(text, LETTERS, 0, "gfx");

	at = text_add_number(text, LETTERS, at, version / 10000);
	at = text_add_number(text, LETTERS, at, version / 100 % 100);
	text[at++] = digits[version % 100 % 16];
	text[at] = 0;
}

static void agent_derive(struct agent *agent)
{
	agent->type = agent->simds ? AGENT_GPU : AGENT_CPU;
	agent->cus = agent->simds_per_cu ? agent->simds / agent->simds_per_cu : 0;
	agent->shader_banks =
		agent->arrays_per_engine ? agent->arrays / agent->arrays_per_engine : 0;
	agent->cus_per_engine = agent->shader_banks ? agent->cus / agent->shader_banks : 0;
	agent->waves_per_cu = agent->waves_per_simd * agent->simds_per_cu;
	if (agent->type != AGENT_GPU)
		return;
	agent->workgroup_max = 1024;
	agent->grid_max = UINT32_MAX;
	agent->workgroup_dims = (struct dimensions){ 1024, 1024, 1024 };
	agent->grid_dims = (struct dimensions){ INT32_MAX, UINT16_MAX, UINT16_MAX };
}

static struct agent *add_agent(uint32_t node)
{
	unsigned i = agent_count;
	struct agent *agent = &agents[i];

	if (i == AGENTS_MAX)
		return NULL;
	*agent = (struct agent){ .size = sizeof(*agent),
				 .id = { HANDLE_FIRST + node },
				 .node = node };
	agent->name = words[i].name;
	agent->vendor = words[i].vendor;
	agent->product = words[i].product;
	agent->model = words[i].model;
	agent->logical_node = (int32_t)i;
	agent_count++;
	return agent;
}

static void ask_driver(void)
{
	char text[FILE_MAX];

	for (uint32_t node = 0; node < AGENTS_MAX; node++) {
		unsigned i = agent_count;
		struct agent *agent;

		if (!topology_read(node, "properties", text, sizeof(text)))
			continue;
		agent = add_agent(node);
		if (!agent)
			return;
		properties_parse(agent, properties, ARRAY_SIZE(properties), text);
		properties_parse(&words[i].parts, part_properties, ARRAY_SIZE(part_properties),
				 text);
		agent_derive(agent);
		if (topology_read(node, "gpu_id", text, sizeof(text)))
			agent->gpu = property_number(text);
		if (agent->type == AGENT_GPU)
			name_device(agent->gfx_version, words[i].name);
		if (agent->type == AGENT_GPU && topology_read(node, "name", text, sizeof(text)))
			take_line(words[i].model, text);
		text_add(words[i].vendor, LETTERS, 0, agent->type == AGENT_GPU ? "AMD" : "CPU");
	}
}

static struct agent *agent_of_node(uint32_t node)
{
	for (unsigned i = 0; i < agent_count; i++)
		if (agents[i].node == node)
			return &agents[i];
	return NULL;
}

static void hsa_note(const struct hsa_agent *from)
{
	struct agent *agent = agent_of_node(from->node);
	unsigned i;

	if (!agent && !has_driver)
		agent = add_agent(from->node);
	if (!agent)
		return;
	i = (unsigned)(agent - agents);
	agent->type = from->kind == 1 ? AGENT_GPU : AGENT_CPU;
	agent->visibility |= 1;
	memcpy(words[i].name, from->name, sizeof(words[i].name));
	memcpy(words[i].vendor, from->vendor, sizeof(words[i].vendor));
	memcpy(words[i].product, from->product, sizeof(words[i].product));
}

static void hsa_note_all(void)
{
	const struct hsa_agent *from;

	for (unsigned i = 0; (from = agent_at(i)); i++)
		hsa_note(from);
	__atomic_store_n(&has_hsa, 1, __ATOMIC_RELEASE);
}

/* Processors and devices are each numbered from 0. */
static void number_by_type(void)
{
	int32_t next[AGENT_GPU + 1] = { 0 };

	for (unsigned i = 0; i < agent_count; i++)
		agents[i].logical_type = next[agents[i].type]++;
}

/* Reads the driver's files once, and queries HSA until it has answered, again after its restart. */
static void ask_once(void)
{
	if ((__atomic_load_n(&has_hsa, __ATOMIC_ACQUIRE) && agents_are_known()) ||
	    __atomic_exchange_n(&is_asking, 1, __ATOMIC_ACQUIRE))
		return;
	if (!agent_count) {
		ask_driver();
		has_driver = agent_count;
	}
	if (agents_ask())
		hsa_note_all();
	number_by_type();
	__atomic_store_n(&is_asking, 0, __ATOMIC_RELEASE);
}

void tool_agents_adopt(void)
{
	is_asking = is_reading_parts = 0;
}

struct sdk_handle agent_of_number(uint64_t node)
{
	const struct agent *agent;

	ask_once();
	agent = agent_of_node((uint32_t)node);
	return agent && node <= UINT32_MAX ? agent->id : (struct sdk_handle){ 0 };
}

struct sdk_handle agent_of_hsa(uint64_t hsa)
{
	ask_once();
	return agent_of_number(agent_device(hsa));
}

struct sdk_handle agent_of_pool(uint64_t pool)
{
	ask_once();
	return agent_of_number(agent_device_of_pool(pool));
}

/* Runs on a thread of the runtime, inside its work: calls only functions that do not wait, and none
 * while it is unknown whether HSA is up. */
struct sdk_handle agent_of_hsa_queue(const struct hsa_queue *queue)
{
	return queue && agents_are_known() ? agent_of_hsa(agent_of_queue(queue))
					   : (struct sdk_handle){ 0 };
}

/* Waits for the other thread one second at most: a signal handler may have jumped out of the
 * function. */
static void turn_await(const uint32_t *is_taken)
{
	struct patience patience = { 0, 0 };

	while (__atomic_load_n(is_taken, __ATOMIC_ACQUIRE) &&
	       patience_pause(&patience, TURN_PAUSE_NS, TURN_LIMIT_NS))
		;
}

static void parts_read_of(struct agent *agent, struct part_counts *counts)
{
	agent->mem_banks = parts_read(agent->node, PART_BANKS, &counts->banks);
	agent->caches = parts_read(agent->node, PART_CACHES, &counts->caches);
	agent->io_links = parts_read(agent->node, PART_LINKS, &counts->links);
	/* Release: a reader that sees the count sees the list. */
	__atomic_store_n(&agent->banks, counts->banks, __ATOMIC_RELEASE);
	__atomic_store_n(&agent->caches_count, counts->caches, __ATOMIC_RELEASE);
	__atomic_store_n(&agent->links, counts->links, __ATOMIC_RELEASE);
}

/* Reads hundreds of files, so only for a tool that requests agents; other such threads wait. */
static void parts_read_once(void)
{
	if (!has_driver || __atomic_load_n(&has_read_parts, __ATOMIC_ACQUIRE))
		return;
	if (__atomic_exchange_n(&is_reading_parts, 1, __ATOMIC_ACQUIRE)) {
		turn_await(&is_reading_parts);
		return;
	}
	for (unsigned i = 0; !has_read_parts && i < agent_count; i++)
		parts_read_of(&agents[i], &words[i].parts);
	__atomic_store_n(&has_read_parts, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&is_reading_parts, 0, __ATOMIC_RELEASE);
}

SDK_EXPORT int rocprofiler_query_available_agents(int version, agents_function *callback,
						  size_t agent_size, void *data);

int rocprofiler_query_available_agents(int version, agents_function *callback, size_t agent_size,
				       void *data)
{
	const void *list[AGENTS_MAX];

	if (!callback || version != VERSION_0)
		return SDK_INVALID_ARGUMENT;
	/* A tool built for a larger structure would read beyond this one. */
	if (agent_size > sizeof(struct agent))
		return SDK_INCOMPATIBLE_ABI;
	ask_once();
	turn_await(&is_asking);
	parts_read_once();
	for (unsigned i = 0; i < agent_count; i++)
		list[i] = &agents[i];
	return callback(version, list, agent_count, data);
}
