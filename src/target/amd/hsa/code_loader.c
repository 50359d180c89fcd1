/*
 * Queries the runtime's loader when a context starts or an executable is frozen, under a lock.
 */
#include "target/amd/hsa/code_store.h"

#include "target/amd/hsa/functions.h"
#include "target/runtime/hsa_gate.h"

enum { LOADER_EXTENSION = 0x201, STORAGE_FILE = 1, STORAGE_MEMORY = 2 };
enum { EXECUTABLE_STATE = 2, IS_FROZEN = 1 };
enum {
	OBJECT_AGENT = 3,
	OBJECT_STORAGE = 4,
	OBJECT_MEMORY = 5,
	OBJECT_MEMORY_SIZE = 6,
	OBJECT_FILE = 7,
	OBJECT_DELTA = 8,
	OBJECT_BASE = 9,
	OBJECT_SIZE = 10,
	OBJECT_URI_LENGTH = 11,
	OBJECT_URI = 12,
};
enum {
	SYMBOL_KIND = 0,
	SYMBOL_NAME_LENGTH = 1,
	SYMBOL_NAME = 2,
	SYMBOL_KERNARG = 11,
	SYMBOL_KERNARG_ALIGNMENT = 12,
	SYMBOL_GROUP = 13,
	SYMBOL_PRIVATE = 14,
	SYMBOL_OBJECT = 22,
	IS_KERNEL = 1,
};

/* The runtime's extension table. */
struct loader {
	void *others[3];
	int (*each_object)(uint64_t executable, hsa_visit_of *visit, void *data);
	int (*object_info)(uint64_t object, uint32_t what, void *ret);
	void *reader;
	int (*each_executable)(hsa_visit *visit, void *data);
};

static struct loader loader;

static void read_symbol(uint64_t symbol, struct code_kernel_data *data)
{
	(void)hsa_calls.symbol_info(symbol, SYMBOL_OBJECT, &data->object);
	(void)hsa_calls.symbol_info(symbol, SYMBOL_KERNARG, &data->kernarg);
	(void)hsa_calls.symbol_info(symbol, SYMBOL_KERNARG_ALIGNMENT, &data->kernarg_alignment);
	(void)hsa_calls.symbol_info(symbol, SYMBOL_GROUP, &data->group);
	(void)hsa_calls.symbol_info(symbol, SYMBOL_PRIVATE, &data->private);
}

static const char *read_name(uint64_t symbol)
{
	uint32_t length = 0;
	char *name;

	if (hsa_calls.symbol_info(symbol, SYMBOL_NAME_LENGTH, &length) || !length)
		return NULL;
	name = code_store_text(length);
	if (!name || hsa_calls.symbol_info(symbol, SYMBOL_NAME, name))
		return NULL;
	name[length] = 0;
	return name;
}

static int note_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *data)
{
	const struct code_object *object = data;
	struct code_kernel *kernel;
	uint32_t kind = 0;

	(void)executable, (void)agent;
	if (hsa_calls.symbol_info(symbol, SYMBOL_KIND, &kind) || kind != IS_KERNEL)
		return 0;
	kernel = code_store_add(read_name(symbol), object->data.id);
	if (!kernel)
		return 0;
	read_symbol(symbol, &kernel->data);
	code_store_index(kernel);
	return 0;
}

static void read_object(uint64_t handle, struct code_object_data *data)
{
	int (*info)(uint64_t, uint32_t, void *) = loader.object_info;
	uint32_t length = 0;
	char *uri;

	(void)info(handle, OBJECT_AGENT, &data->hsa_agent);
	(void)info(handle, OBJECT_BASE, &data->base);
	(void)info(handle, OBJECT_SIZE, &data->bytes);
	(void)info(handle, OBJECT_DELTA, &data->delta);
	if (data->storage == STORAGE_FILE)
		(void)info(handle, OBJECT_FILE, &data->file);
	if (data->storage == STORAGE_MEMORY) {
		(void)info(handle, OBJECT_MEMORY, &data->memory);
		(void)info(handle, OBJECT_MEMORY_SIZE, &data->memory_bytes);
	}
	uri = !info(handle, OBJECT_URI_LENGTH, &length) && length ? code_store_text(length) : NULL;
	if (uri && !info(handle, OBJECT_URI, uri)) {
		uri[length] = 0;
		data->uri = uri;
	}
}

static bool has_object(uint64_t executable, uint64_t handle)
{
	for (uint32_t i = 0; i < code_store->object_count; i++)
		if (code_store->objects[i].executable == executable &&
		    code_store->objects[i].handle == handle && !code_store->objects[i].is_gone) {
			code_store->objects[i].is_listed = true;
			return true;
		}
	return false;
}

static int note_object(uint64_t executable, uint64_t handle, void *data)
{
	struct code_object *object = &code_store->objects[code_store->object_count];
	uint32_t storage = 0;

	(void)data;
	if (code_store->object_count == OBJECTS_MAX || has_object(executable, handle) ||
	    loader.object_info(handle, OBJECT_STORAGE, &storage) || !storage)
		return 0;
	object->data = (struct code_object_data){ .size = sizeof(object->data),
						  .id = code_store->object_count + 1ull,
						  .storage = storage };
	object->executable = executable;
	object->handle = handle;
	object->is_listed = true;
	read_object(handle, &object->data);
	code_store->object_count++;
	(void)hsa_calls.each_symbol(executable, object->data.hsa_agent, note_symbol, object);
	return 0;
}

/* The kernels of an executable that is not frozen have no addresses yet. */
static int note_executable(uint64_t executable, void *data)
{
	uint32_t state = IS_FROZEN;

	if (hsa_calls.executable_info &&
	    hsa_calls.executable_info(executable, EXECUTABLE_STATE, &state))
		return 0;
	if (state != IS_FROZEN)
		return 0;
	return loader.each_object(executable, note_object, data);
}

static bool loader_find(void)
{
	return !hsa_calls.extension(LOADER_EXTENSION, 1, sizeof(loader), &loader) &&
	       loader.each_object && loader.object_info && loader.each_executable;
}

static void all_scan(void)
{
	for (uint32_t i = 0; i < code_store->object_count; i++)
		code_store->objects[i].is_listed = false;
	/* Without a whole list none counts as unloaded. */
	if (!loader.each_executable(note_executable, NULL))
		return;
	for (uint32_t i = 0; i < code_store->object_count; i++)
		code_store->objects[i].is_listed = true;
}

bool code_loader_scan(uint64_t executable)
{
	if (!hsa_find(NEED_CODE) || !code_store_open())
		return true;
	if (!hsa_gate_enter())
		return false;
	if (!loader_find())
		;
	else if (executable)
		(void)note_executable(executable, NULL);
	else
		all_scan();
	hsa_gate_leave();
	return true;
}
