/*
 * An agent in AMD's words, for results.json and for rocpd.
 */
#include "host/export/amd/view/agents.h"

#define AGENT_BYTES 312u /* of AMD's structure for them */

static void write_handle(struct json *json, const char *key, uint64_t handle)
{
	json_object(json, key);
	json_number(json, "handle", handle);
	json_object_end(json);
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

/* The driver's number of the device; the other half is 0, as at AMD's. */
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
	write_handle(json, "id", agent->number);
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
