/*
 * Runs on limpet's threads: reads files.
 */
#include "target/amd/devices/devices.h"

#include "target/amd/hsa/agents.h"
#include "target/runtime/text.h"
#include "target/runtime/topology.h"

#define FILE_MAX 2048u

struct description {
	char *text;
	size_t room, at;
};

static void line_add(struct description *self, const char *key, const char *value)
{
	self->at = text_add(self->text, self->room, self->at, key);
	self->at = text_add(self->text, self->room, self->at, value);
	self->at = text_add(self->text, self->room, self->at, "\n");
}

/* The index within its kind, as HSA counts: records contain only used devices. */
static void index_add(struct description *self, const struct hsa_agent *agent)
{
	const struct hsa_agent *before;
	unsigned long index = 0;

	if (agent->kind > 1)
		return;
	for (unsigned i = 0; (before = agent_at(i)) && before != agent; i++)
		index += before->kind == agent->kind;
	self->at = text_add(self->text, self->room, self->at, "index=");
	self->at = text_add_number(self->text, self->room, self->at, index);
	self->at = text_add(self->text, self->room, self->at, "\n");
}

/* A file of the driver. Without a key it has lines "name value", which become "name=value". */
static void file_add(struct description *self, uint64_t device, const char *name, const char *key)
{
	char file[FILE_MAX];

	if (!topology_read((unsigned)device, name, file, sizeof(file)))
		return;
	for (size_t i = 0; !key[0] && file[i]; i++)
		file[i] = file[i] == ' ' ? '=' : file[i];
	self->at = text_add(self->text, self->room, self->at, key);
	self->at = text_add(self->text, self->room, self->at, file);
}

bool device_describe(uint64_t device, char *text, size_t room)
{
	static const char *const kinds[] = { "cpu", "gpu" };
	struct description self = { text, room, 0 };
	const struct hsa_agent *agent;
	unsigned i = 0;

	while ((agent = agent_at(i)) && agent->node != device)
		i++;
	if (!agent)
		return false;
	text[0] = '\0';
	line_add(&self, "type=", agent->kind < 2 ? kinds[agent->kind] : "other");
	index_add(&self, agent);
	line_add(&self, "name=", agent->name);
	line_add(&self, "vendor=", agent->vendor);
	line_add(&self, "product=", agent->product);
	file_add(&self, device, "properties", "");
	file_add(&self, device, "gpu_id", "gpu_id=");
	file_add(&self, device, "name", "model=");
	return true;
}
