/*
 * Looks for names of traced calls' stacks.
 */
#include "host/model/calls/call_names.h"

#include "shared/base/hash.h"

#include "host/core/room.h"
#include "host/core/text/path.h"
#include "host/symbols/symbolizer.h"

#include <errno.h>
#include <stdlib.h>

/* Programs that are not moved lie below: their addresses are those of the file. */
#define FIXED_BELOW (UINT64_C(1) << 32)

/* Its number in the symbolizer; -ENOMEM. */
static int module_number(struct call_names *self, const struct model_process *process,
			 const struct recorded_module *module, bool is_live)
{
	const struct symbol_origin origin = { .path = module->path,
					      .pid = is_live ? process->pid : 0,
					      .build_id = module->build_id,
					      .build_id_size = module->build_id_size };
	bool is_new, is_same = is_live || module->build_id_size;
	struct table_entry *entry =
		table_make(&self->modules, process->number, module->base, &is_new);
	int number;

	if (!entry || !is_new)
		return entry ? (int)entry->value : -ENOMEM;
	number = symbolizer_module(self->symbolizer, is_same ? CODE_FILE : CODE_UNKNOWN, &origin);
	if (number < 0)
		table_remove(&self->modules, entry);
	else
		entry->value = (uint64_t)number;
	return number;
}

/* The function that was not inlined. */
static int function_find(struct call_names *self, unsigned module, uint64_t address,
			 struct call_name *ret)
{
	struct code_names names;

	if (symbolizer_find(self->symbolizer, module, address, /* wants_lines */ false, &names))
		return -ENOMEM;
	ret->is_named = names.is_named && names.count;
	if (ret->is_named)
		ret->function = names.items[names.count - 1].function;
	return 0;
}

static int module_name(struct call_names *self, const struct model_process *process,
		       const struct recorded_module *module, uint64_t address, bool is_live,
		       struct call_name *ret)
{
	int number = module_number(self, process, module, is_live), r;

	if (number < 0)
		return -ENOMEM;
	ret->module = pool_keep(&self->texts, path_base_name(module->path));
	r = function_find(self, (unsigned)number, address - module->base + module->offset, ret);
	if (!r && !ret->is_named && module->base < FIXED_BELOW)
		r = function_find(self, (unsigned)number, address, ret);
	return ret->module ? r : -ENOMEM;
}

static int name_find(struct call_names *self, const struct model_process *process, uint64_t address,
		     bool is_live, struct call_name *ret)
{
	const struct recorded_module *module = process_module(process, address);
	char text[256];

	*ret = (struct call_name){ .module = "" };
	if (module && module_name(self, process, module, address - 1, is_live, ret))
		return -ENOMEM;
	if (ret->is_named)
		return 0;
	frame_text(process, address, text, sizeof(text));
	ret->function = pool_keep(&self->texts, text);
	return ret->function ? 0 : -ENOMEM;
}

const struct call_name *call_names_find(struct call_names *self,
					const struct model_process *process, uint64_t address,
					bool is_live)
{
	struct table_entry *entry;
	bool is_new;

	if (!self->symbolizer)
		self->symbolizer = symbolizer_new();
	if (!self->symbolizer ||
	    make_room(&self->items, self->count, &self->room, sizeof(*self->items)))
		return NULL;
	entry = table_make(&self->found, process->number, address, &is_new);
	if (!entry)
		return NULL;
	if (is_new && name_find(self, process, address, is_live, &self->items[self->count])) {
		table_remove(&self->found, entry);
		return NULL;
	}
	if (is_new)
		entry->value = self->count++;
	return &self->items[entry->value];
}

static uint64_t process_layout(uint64_t hash, const struct model_process *process)
{
	for (uint32_t i = 0; i < process->module_count; i++) {
		const struct recorded_module *module = &process->modules[i];

		hash ^= hash_bytes(&module->base, sizeof(module->base)) + process->number;
		hash = hash_add_text(hash, module->path);
	}
	return hash;
}

void call_names_follow(struct call_names *self, const struct model *model)
{
	uint64_t layout = 0;

	for (uint32_t i = 0; i < model->process_count; i++)
		layout = process_layout(layout, model->processes[i]);
	if (layout == self->layout)
		return;
	call_names_done(self);
	self->layout = layout;
}

void call_names_done(struct call_names *names)
{
	symbolizer_free(names->symbolizer);
	table_done(&names->modules);
	table_done(&names->found);
	free(names->items);
	pool_done(&names->texts);
	*names = (struct call_names){ 0 };
}
