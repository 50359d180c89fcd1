/*
 * Queries the runtime's loader when a context starts or an executable is frozen, under a lock.
 */
#include "target/amd/hsa/code_loader.h"

#include "target/amd/hsa/code_store.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/tables/intercept.h"
#include "target/amd/tables/signature.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

enum { LOADER_EXTENSION = 0x201, STORAGE_FILE = 1, STORAGE_MEMORY = 2 };
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

#define SYMBOLS "hsa_executable_iterate_agent_symbols"

/* Functions of the runtime, from its tables. */
typedef int each_object(uint64_t executable, uint64_t object, void *data);
typedef int each_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *data);
typedef int each_executable(uint64_t executable, void *data);
struct loader {
	void *others[3];
	int (*each_object)(uint64_t executable, each_object *visit, void *data);
	int (*object_info)(uint64_t object, uint32_t what, void *ret);
	void *reader;
	int (*each_executable)(each_executable *visit, void *data);
};

static struct {
	struct loader loader;
	int (*symbols)(uint64_t, uint64_t, each_symbol *, void *);
	int (*symbol_info)(uint64_t, uint32_t, void *);
	const struct agent_table *table; /* NULL: unknown */
} hsa;

static void read_symbol(uint64_t symbol, struct code_kernel_data *data)
{
	(void)hsa.symbol_info(symbol, SYMBOL_OBJECT, &data->object);
	(void)hsa.symbol_info(symbol, SYMBOL_KERNARG, &data->kernarg);
	(void)hsa.symbol_info(symbol, SYMBOL_KERNARG_ALIGNMENT, &data->kernarg_alignment);
	(void)hsa.symbol_info(symbol, SYMBOL_GROUP, &data->group);
	(void)hsa.symbol_info(symbol, SYMBOL_PRIVATE, &data->private);
}

static const char *read_name(uint64_t symbol)
{
	uint32_t length = 0;
	char *name;

	if (hsa.symbol_info(symbol, SYMBOL_NAME_LENGTH, &length) || !length)
		return NULL;
	name = code_store_text(length);
	if (!name || hsa.symbol_info(symbol, SYMBOL_NAME, name))
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
	if (hsa.symbol_info(symbol, SYMBOL_KIND, &kind) || kind != IS_KERNEL)
		return 0;
	kernel = code_store_add(read_name(symbol), object->data.id);
	if (kernel)
		read_symbol(symbol, &kernel->data);
	return 0;
}

static void read_object(uint64_t handle, struct code_object_data *data)
{
	int (*info)(uint64_t, uint32_t, void *) = hsa.loader.object_info;
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
	data->agent = agent_of_hsa(data->hsa_agent);
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
		    code_store->objects[i].handle == handle && !code_store->objects[i].is_gone)
			return true;
	return false;
}

static int note_object(uint64_t executable, uint64_t handle, void *data)
{
	struct code_object *object = &code_store->objects[code_store->object_count];
	uint32_t storage = 0;

	(void)data;
	if (code_store->object_count == OBJECTS_MAX || has_object(executable, handle) ||
	    hsa.loader.object_info(handle, OBJECT_STORAGE, &storage) || !storage)
		return 0;
	object->data = (struct code_object_data){ .size = sizeof(object->data),
						  .id = code_store->object_count + 1ull,
						  .storage = storage };
	object->executable = executable;
	object->handle = handle;
	read_object(handle, &object->data);
	code_store->object_count++;
	(void)hsa.symbols(executable, object->data.hsa_agent, note_symbol, object);
	return 0;
}

static int note_executable(uint64_t executable, void *data)
{
	return hsa.loader.each_object(executable, note_object, data);
}

static uint64_t find_function(const struct agent_table *known, const char *name)
{
	const struct api_table *core = &api_tables[0];
	uint64_t *slots;
	unsigned count = intercept_read(known, core, &slots);

	for (unsigned i = 0; i < MIN(count, core->count); i++)
		if (text_equal(core->signatures[i].name, name))
			return intercept_original(core, i, slots);
	return 0;
}

static bool find_in(const struct agent_table *known)
{
	typedef int extension_function(uint16_t, uint16_t, size_t, void *);
	extension_function *extension =
		(extension_function *)find_function(known, "hsa_system_get_major_extension_table");

	hsa.symbols =
		(int (*)(uint64_t, uint64_t, each_symbol *, void *))find_function(known, SYMBOLS);
	hsa.symbol_info = (int (*)(uint64_t, uint32_t, void *))find_function(
		known, "hsa_executable_symbol_get_info");
	return extension && hsa.symbols && hsa.symbol_info &&
	       !extension(LOADER_EXTENSION, 1, sizeof(hsa.loader), &hsa.loader) &&
	       hsa.loader.each_object && hsa.loader.object_info && hsa.loader.each_executable;
}

/* The application may have closed the runtime since, and other code may be mapped there. */
static bool is_there(void)
{
	return hsa.table && find_function(hsa.table, SYMBOLS) == (uint64_t)hsa.symbols;
}

static bool find_hsa(void)
{
	if (is_there())
		return true;
	hsa.table = NULL;
	for (uint32_t i = 0; !hsa.table && i < agent_page.table_count; i++)
		if (find_in(&agent_page.tables[i]))
			hsa.table = &agent_page.tables[i];
	return hsa.table;
}

bool code_loader_look(uint64_t executable)
{
	if (!hsa_gate_enter())
		return false;
	if (!code_store_open() || !find_hsa())
		;
	else if (executable)
		(void)note_executable(executable, NULL);
	else
		(void)hsa.loader.each_executable(note_executable, NULL);
	hsa_gate_leave();
	return true;
}

void code_loader_forget(void)
{
	hsa.table = NULL;
}
