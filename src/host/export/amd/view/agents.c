/*
 * Parses a process's lines about its devices: "key=value", which it may have made up.
 */
#include "host/export/amd/view/agents.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"
#include "host/core/rows.h"
#include "host/core/text/text.h"

#define INDEX_END   65536u /* no machine has as many */
#define AGENT_BYTES 312u   /* of AMD's structure for them */

static struct agent *agents_add(struct agents *agents, uint64_t number)
{
	if (make_room(&agents->items, agents->count, &agents->room, sizeof(*agents->items)))
		return NULL;
	agents->items[agents->count] = (struct agent){ .number = number };
	if (number == AGENT_UNKNOWN)
		snprintf(agents->items[agents->count].name, AGENT_TEXT_MAX, "unknown");
	return &agents->items[agents->count++];
}

static const char *const property_names[AGENT_PROPERTIES] = {
#define PROPERTY(name, text) [AGENT_##name] = text,
#include "host/export/amd/view/agent_properties.def"
};

const char *agent_property_name(enum agent_property property)
{
	return property_names[property];
}

static void property_read(struct agent *agent, struct text line)
{
	struct text name;

	if (!text_take_field(&line, '=', &name))
		return;
	for (unsigned i = 0; i < AGENT_PROPERTIES; i++)
		if (text_equals(name, property_names[i])) {
			(void)text_take_number(&line, 10, &agent->properties[i]);
			return;
		}
}

static void line_read(struct agent *agent, struct text line)
{
	const struct {
		const char *key;
		char *into;
	} texts[] = { { "name=", agent->name },
		      { "vendor=", agent->vendor },
		      { "product=", agent->product },
		      { "model=", agent->model } };
	uint64_t number;

	if (text_take_prefix(&line, "type=")) {
		agent->is_cpu = text_equals(line, "cpu");
		return;
	}
	if (text_take_prefix(&line, "index=")) {
		agent->has_index = text_take_number(&line, 10, &number) && number < INDEX_END;
		agent->type_index = agent->has_index ? (uint32_t)number : 0;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (text_take_prefix(&line, texts[i].key)) {
			text_copy_printable(line, texts[i].into, AGENT_TEXT_MAX);
			return;
		}
	property_read(agent, line);
}

/* Derived from the driver's numbers; AMD's library has the same limits for all devices. */
static void agent_derive(struct agent *agent)
{
	uint64_t *of = agent->properties, engines;

	of[AGENT_CU_COUNT] =
		of[AGENT_SIMD_PER_CU] ? of[AGENT_SIMD_COUNT] / of[AGENT_SIMD_PER_CU] : 0;
	engines = of[AGENT_SIMD_ARRAYS_PER_ENGINE]
			  ? of[AGENT_ARRAY_COUNT] / of[AGENT_SIMD_ARRAYS_PER_ENGINE]
			  : 0;
	of[AGENT_NUM_SHADER_BANKS] = engines;
	of[AGENT_CU_PER_ENGINE] = engines ? of[AGENT_CU_COUNT] / engines : 0;
	of[AGENT_MAX_WAVES_PER_CU] = of[AGENT_MAX_WAVES_PER_SIMD] * of[AGENT_SIMD_PER_CU];
	if (!of[AGENT_SIMD_COUNT])
		return;
	of[AGENT_WORKGROUP_MAX_SIZE] = 1024;
	of[AGENT_GRID_MAX_SIZE] = UINT32_MAX;
	agent->workgroup = (struct agent_dimensions){ 1024, 1024, 1024 };
	agent->grid = (struct agent_dimensions){ INT32_MAX, UINT16_MAX, UINT16_MAX };
}

static int by_number(const void *left, const void *right)
{
	const struct agent *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

/* Assigns an index among those of its type if it has none; 0 or -ENOMEM. */
static int agents_enter(struct agents *agents, struct agent *agent)
{
	uint32_t *next = agent->is_cpu ? &agents->cpus : &agents->gpus;
	bool is_new;
	struct table_entry *entry = table_make(&agents->by_number, agent->number, 0, &is_new);

	if (!entry)
		return -ENOMEM;
	entry->value = (uint64_t)(agent - agents->items) + 1;
	if (!agent->has_index)
		agent->type_index = *next;
	*next = MAX(*next, agent->type_index + 1);
	return 0;
}

static int agents_init(struct agents *ret, const struct names *names)
{
	int r = 0;

	for (size_t i = 0; i < names->room; i++) {
		const struct name_entry *named = &names->items[i];
		struct agent *agent;

		if (!named->text || named->space != NAME_DEVICE)
			continue;
		agent = agents_add(ret, named->id);
		if (!agent)
			return -ENOMEM;
		struct text rest = text_of(named->text), line;

		while (text_take_line(&rest, &line))
			line_read(agent, line);
		agent_derive(agent);
	}
	rows_sort(ret->items, ret->count, sizeof(*ret->items), by_number);
	for (size_t i = 0; !r && i < ret->count; i++)
		r = agents_enter(ret, &ret->items[i]);
	return r;
}

struct agents *agents_new(const struct model *model, const struct model_process *only)
{
	struct agents *self = calloc(MAX(model->process_count, 1u), sizeof(*self));

	for (uint32_t i = 0; self && i < model->process_count; i++) {
		const struct model_process *process = model->processes[i];

		if ((only && only != process) || !agents_init(&self[i], &process->names))
			continue;
		agents_free(self, model);
		return NULL;
	}
	return self;
}

void agents_free(struct agents *agents, const struct model *model)
{
	for (uint32_t i = 0; agents && i < model->process_count; i++) {
		free(agents[i].items);
		table_done(&agents[i].by_number);
	}
	free(agents);
}

uint64_t agent_number(uint64_t device)
{
	return device == UINT64_MAX ? AGENT_UNKNOWN : device;
}

const struct agent *agents_find(struct agents *agents, const struct model_process *process,
				uint64_t device)
{
	struct agents *own = &agents[process->number];
	uint64_t number = agent_number(device);
	const struct table_entry *entry = table_find(&own->by_number, number, 0);
	struct agent *agent;

	if (entry)
		return &own->items[entry->value - 1];
	agent = agents_add(own, number);
	if (!agent)
		return NULL;
	agent->is_cpu = number == 0;
	return agents_enter(own, agent) ? NULL : agent;
}

const char *agent_type(const struct agent *agent)
{
	return agent->is_cpu ? "CPU" : "GPU";
}

void agent_label(const struct agent *agent, enum agent_index index, char *ret, size_t room)
{
	if (index == AGENT_TYPE_RELATIVE)
		snprintf(ret, room, "%s %u", agent_type(agent), agent->type_index);
	else
		snprintf(ret, room, "Agent %" PRIu64, agent->number);
}

static void write_dimensions(struct json *json, const char *key, struct agent_dimensions dimensions)
{
	json_object(json, key);
	json_number(json, "x", dimensions.x);
	json_number(json, "y", dimensions.y);
	json_number(json, "z", dimensions.z);
	json_object_end(json);
}

static void write_visibility(struct json *json)
{
	static const char *const runtimes[] = { "hsa", "hip", "rccl", "rocdecode" };

	json_object(json, "runtime_visibility");
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		json_number(json, runtimes[i], 1);
	json_object_end(json);
}

/* The driver's number of the device; the other half is 0, as AMD has it. */
static void write_uuid(struct json *json, uint64_t unique)
{
	json_object(json, "uuid");
	json_list(json, "bytes");
	for (unsigned i = 0; i < 16; i++)
		json_number(json, NULL, i < 8 ? unique >> 8 * i & 0xff : 0);
	json_list_end(json);
	json_object_end(json);
}

/* Counts of the driver, without the parts themselves. */
static void write_parts(struct json *json)
{
	static const char *const parts[] = { "mem_banks", "caches", "io_links" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		json_list(json, parts[i]);
		json_list_end(json);
	}
}

void agent_write(struct json *json, const struct agent *agent)
{
	json_object(json, NULL);
	json_number(json, "size", AGENT_BYTES);
	json_object(json, "id");
	json_number(json, "handle", agent->number);
	json_object_end(json);
	json_number(json, "type", agent->is_cpu ? 1 : 2);
	for (unsigned i = 0; i < AGENT_PROPERTIES; i++)
		if (i != AGENT_UNIQUE_ID)
			json_number(json, agent_property_name(i), agent->properties[i]);
	write_dimensions(json, "workgroup_max_dim", agent->workgroup);
	write_dimensions(json, "grid_max_dim", agent->grid);
	json_text(json, "name", agent->name);
	json_text(json, "vendor_name", agent->vendor);
	json_text(json, "product_name", agent->product);
	json_text(json, "model_name", agent->model);
	json_number(json, "node_id", agent->number);
	json_number(json, "logical_node_id", agent->number);
	json_number(json, "logical_node_type_id", agent->type_index);
	write_visibility(json);
	write_uuid(json, agent->properties[AGENT_UNIQUE_ID]);
	write_parts(json);
	json_object_end(json);
}
