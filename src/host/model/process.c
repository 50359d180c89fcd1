/*
 * Processes: their variables, the modules at their addresses, and the records that were dropped.
 */
#include "host/core/sorted.h"
#include "host/core/text/path.h"
#include "host/model/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const drop_names[DROP_REASONS] = {
	[DROP_FULL] = "full",
	[DROP_NESTED] = "nested",
	[DROP_NO_RING] = "no_ring",
	[DROP_NO_COUNTER] = "no_counter",
};

static const char *const drop_texts[DROP_REASONS] = {
	[DROP_FULL] = "because limpet was too slow",
	[DROP_NESTED] = "in signal handlers",
	[DROP_NO_RING] = "of threads without a ring",
	[DROP_NO_COUNTER] = "because the program forbids to read the machine's counter",
};

const char *drop_reason_name(unsigned reason)
{
	return reason < DROP_REASONS && drop_names[reason] ? drop_names[reason] : "other";
}

const char *drop_reason_text(unsigned reason)
{
	return reason < DROP_REASONS && drop_texts[reason] ? drop_texts[reason] : "otherwise";
}

const char *process_variable(const struct model_process *process, const char *name)
{
	for (uint32_t i = 0; i < process->variable_count; i++)
		if (strcmp(process->variables[i].name, name) == 0)
			return process->variables[i].value;
	return NULL;
}

int process_set_variable(struct model *model, struct model_process *process, const char *name,
			 const char *value)
{
	struct recorded_variable *more,
		added = { pool_keep(&model->texts, name), pool_keep(&model->texts, value) };

	if (!added.name || !added.value)
		return -ENOMEM;
	for (uint32_t i = 0; i < process->variable_count; i++)
		if (strcmp(process->variables[i].name, name) == 0) {
			process->variables[i] = added;
			return 0;
		}
	more = reallocarray(process->variables, process->variable_count + 1u, sizeof(*more));
	if (!more)
		return -ENOMEM;
	process->variables = more;
	more[process->variable_count++] = added;
	return 0;
}

static uint64_t base_at(const void *modules, size_t index)
{
	return ((const struct recorded_module *)modules)[index].base;
}

const struct recorded_module *process_module(const struct model_process *process, uint64_t address)
{
	size_t count = count_up_to(process->modules, process->module_count, address, base_at);
	const struct recorded_module *last = count ? &process->modules[count - 1] : NULL;

	return last && address - last->base < last->size ? last : NULL;
}

void frame_text(const struct model_process *process, uint64_t address, char *ret, size_t room)
{
	const struct recorded_module *module = process_module(process, address);

	if (module)
		snprintf(ret, room, "%s+0x%" PRIx64, path_base_name(module->path),
			 address - module->base + module->offset);
	else
		snprintf(ret, room, "0x%" PRIx64, address);
}

const char *build_id_text(const unsigned char *build_id, uint32_t size, char ret[BUILD_ID_TEXT_MAX])
{
	ret[0] = '\0';
	for (uint32_t i = 0; i < size; i++)
		snprintf(ret + 2 * i, 3, "%02x", build_id[i]);
	return ret;
}
