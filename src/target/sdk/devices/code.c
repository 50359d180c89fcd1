/*
 * What is found is kept for ever: tools may look at names long after a code object is gone.  Asked
 * of the runtime by whoever starts a context or freezes an executable, one at a time.
 */
#include "target/sdk/devices/code.h"

#include "shared/arch/syscall.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/page.h"
#include "target/runtime/patience.h"
#include "target/runtime/text.h"
#include "target/sdk/contexts.h"
#include "target/sdk/devices/agents.h"
#include "target/sdk/tables/intercept.h"
#include "target/sdk/tables/watch.h"

#include <string.h>
#include <sys/mman.h>

#define OBJECTS_MAX 4096u
#define KERNELS_MAX 32768u
#define BUCKETS     16384u
#define TEXT_BYTES  (8u << 20)
#define TEXT_EACH   65536u
#define LIMIT_NS    2000000000ull
#define PAUSE_NS    1000000

enum { OPERATION_LOAD = 1, OPERATION_KERNEL = 2 };
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

/* As tools see them. */
struct object_data {
	uint64_t size, id;
	struct sdk_handle agent;
	uint64_t hsa_agent;
	const char *uri;
	uint64_t base, bytes;
	int64_t delta;
	uint32_t storage;
	union {
		int32_t file;
		struct {
			uint64_t memory, memory_bytes;
		};
	};
};
_Static_assert(sizeof(struct object_data) == 88, "as in the headers");

struct kernel_data {
	uint64_t size, id, code_object;
	const char *name;
	uint64_t object;
	uint32_t kernarg, kernarg_alignment, group, private;
	uint32_t sgprs, vgprs, accumulators;
	int64_t entry_offset;
	uint64_t address;
};
_Static_assert(sizeof(struct kernel_data) == 88, "as in the headers");

struct object {
	struct object_data data;
	uint64_t executable, handle;
	uint64_t told; /* bits: contexts */
	bool is_gone;
};

struct kernel {
	struct kernel_data data;
	uint64_t told;
	uint32_t next; /* an older one of the same bucket, and one */
	bool is_gone;
};

/* The runtime's functions, from its tables. */
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
	bool is_known;
} hsa;

static struct store {
	uint32_t object_count, kernel_count, text_used;
	struct object objects[OBJECTS_MAX];
	struct kernel kernels[KERNELS_MAX];
	uint32_t buckets[BUCKETS]; /* by the name: the newest kernel, and one */
	char text[TEXT_BYTES];
} * store;
static uint32_t is_busy;
static int32_t busy_thread;
static uint32_t is_behind; /* the runtime could not be asked */

/* Whoever is told may start contexts himself: he does not wait for himself. */
static bool store_lock(void)
{
	struct patience patience = { 0, 0 };

	if (__atomic_load_n(&busy_thread, __ATOMIC_RELAXED) == sdk_thread_number())
		return false;
	do {
		if (!__atomic_exchange_n(&is_busy, 1, __ATOMIC_ACQUIRE)) {
			__atomic_store_n(&busy_thread, sdk_thread_number(), __ATOMIC_RELAXED);
			return true;
		}
	} while (patience_pause(&patience, PAUSE_NS, LIMIT_NS));
	return false;
}

static void store_unlock(void)
{
	__atomic_store_n(&busy_thread, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
}

/* Whoever was at it is not in this child. */
void code_adopt(void)
{
	is_busy = 0;
	busy_thread = 0;
}

static bool store_open(void)
{
	long r;

	if (store)
		return true;
	r = raw6(SYS_mmap, 0, sizeof(*store), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r < 0 && r > -4096)
		return false;
	store = (struct store *)r;
	return true;
}

static char *take_text(uint32_t length)
{
	char *text = store->text + store->text_used;

	if (length >= TEXT_EACH || store->text_used + length + 1 > TEXT_BYTES)
		return NULL;
	store->text_used += length + 1;
	return text;
}

static void read_symbol(uint64_t symbol, struct kernel_data *data)
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
	name = take_text(length);
	if (!name || hsa.symbol_info(symbol, SYMBOL_NAME, name))
		return NULL;
	name[length] = 0;
	return name;
}

static uint32_t *bucket_of(const char *name)
{
	uint32_t sum = 2166136261u;

	for (; *name; name++)
		sum = (sum ^ (unsigned char)*name) * 16777619u;
	return &store->buckets[(sum ^ sum >> 16) % BUCKETS];
}

static struct kernel *add_kernel(const char *name, uint64_t code_object)
{
	struct kernel *kernel = &store->kernels[store->kernel_count];

	if (!name || store->kernel_count == KERNELS_MAX)
		return NULL;
	kernel->data = (struct kernel_data){ .size = sizeof(kernel->data),
					     .id = store->kernel_count + 1ull,
					     .code_object = code_object,
					     .name = name };
	kernel->next = *bucket_of(name);
	store->kernel_count++;
	/* Release: pairs with find_kernel(), which takes no lock. */
	__atomic_store_n(bucket_of(name), store->kernel_count, __ATOMIC_RELEASE);
	return kernel;
}

static int note_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *data)
{
	const struct object *object = data;
	struct kernel *kernel;
	uint32_t kind = 0;

	(void)executable, (void)agent;
	if (hsa.symbol_info(symbol, SYMBOL_KIND, &kind) || kind != IS_KERNEL)
		return 0;
	kernel = add_kernel(read_name(symbol), object->data.id);
	if (kernel)
		read_symbol(symbol, &kernel->data);
	return 0;
}

static void read_object(uint64_t handle, struct object_data *data)
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
	uri = !info(handle, OBJECT_URI_LENGTH, &length) && length ? take_text(length) : NULL;
	if (uri && !info(handle, OBJECT_URI, uri)) {
		uri[length] = 0;
		data->uri = uri;
	}
}

static bool has_object(uint64_t executable, uint64_t handle)
{
	for (uint32_t i = 0; i < store->object_count; i++)
		if (store->objects[i].executable == executable &&
		    store->objects[i].handle == handle && !store->objects[i].is_gone)
			return true;
	return false;
}

static int note_object(uint64_t executable, uint64_t handle, void *data)
{
	struct object *object = &store->objects[store->object_count];
	uint32_t storage = 0;

	(void)data;
	if (store->object_count == OBJECTS_MAX || has_object(executable, handle) ||
	    hsa.loader.object_info(handle, OBJECT_STORAGE, &storage) || !storage)
		return 0;
	object->data = (struct object_data){ .size = sizeof(object->data),
					     .id = store->object_count + 1ull,
					     .storage = storage };
	object->executable = executable;
	object->handle = handle;
	read_object(handle, &object->data);
	store->object_count++;
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

static bool find_hsa(void)
{
	typedef int extension_function(uint16_t, uint16_t, size_t, void *);

	for (uint32_t i = 0; !hsa.is_known && i < agent_page.table_count; i++) {
		const struct agent_table *known = &agent_page.tables[i];
		extension_function *extension = (extension_function *)find_function(
			known, "hsa_system_get_major_extension_table");

		hsa.symbols = (int (*)(uint64_t, uint64_t, each_symbol *, void *))find_function(
			known, "hsa_executable_iterate_agent_symbols");
		hsa.symbol_info = (int (*)(uint64_t, uint32_t, void *))find_function(
			known, "hsa_executable_symbol_get_info");
		hsa.is_known = extension && hsa.symbols && hsa.symbol_info &&
			       !extension(LOADER_EXTENSION, 1, sizeof(hsa.loader), &hsa.loader) &&
			       hsa.loader.each_object && hsa.loader.object_info &&
			       hsa.loader.each_executable;
	}
	return hsa.is_known;
}

/* Of one executable; 0: of all.  The program may be starting the runtime just now, or shutting it
 * down: then later. */
static void objects_look(uint64_t executable)
{
	if (!hsa_gate_enter()) {
		__atomic_store_n(&is_behind, 1, __ATOMIC_SEQ_CST);
		return;
	}
	if (!store_open() || !find_hsa())
		;
	else if (executable)
		(void)note_executable(executable, NULL);
	else
		(void)hsa.loader.each_executable(note_executable, NULL);
	hsa_gate_leave();
}

void code_look(void)
{
	if (!store_lock())
		return;
	objects_look(0);
	store_unlock();
}

static bool context_wants(unsigned context)
{
	return sdk_contexts[context].callbacks[CALLBACK_CODE_OBJECT].callback &&
	       context_state(&sdk_contexts[context]) == CONTEXT_ACTIVE;
}

static void context_tell(unsigned context, int operation, enum callback_phase phase, void *data)
{
	const struct operation_set *set =
		sdk_contexts[context].callbacks[CALLBACK_CODE_OBJECT].operations;
	struct service_event event = { .kind = CALLBACK_CODE_OBJECT,
				       .operation = operation,
				       .phase = phase,
				       .payload = data };
	uint64_t user_data = 0;

	if (!set || set->bits[0] >> operation & 1)
		service_tell(context, &event, &user_data);
}

static void tell_kernel(struct kernel *kernel, unsigned context)
{
	if (kernel->told >> context & 1 || kernel->is_gone)
		return;
	kernel->told |= 1ull << context;
	context_tell(context, OPERATION_KERNEL, PHASE_ENTER, &kernel->data);
}

static void tell_object(struct object *object, unsigned context)
{
	if (object->told >> context & 1 || object->is_gone)
		return;
	object->told |= 1ull << context;
	context_tell(context, OPERATION_LOAD, PHASE_ENTER, &object->data);
}

static void tell_all(unsigned context)
{
	for (uint32_t i = 0; i < store->object_count; i++)
		tell_object(&store->objects[i], context);
	for (uint32_t i = 0; i < store->kernel_count; i++)
		tell_kernel(&store->kernels[i], context);
}

void code_tell(uint64_t active)
{
	if (!store || !store_lock())
		return;
	for (; active; active &= active - 1) {
		unsigned context = (unsigned)__builtin_ctzll(active);

		if (context_wants(context))
			tell_all(context);
	}
	store_unlock();
}

static void tell_everybody(void)
{
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_wants(i))
			tell_all(i);
}

static uint64_t find_kernel(const char *name)
{
	uint32_t at = store ? __atomic_load_n(bucket_of(name), __ATOMIC_ACQUIRE) : 0;

	while (at && (store->kernels[at - 1].is_gone ||
		      !text_equal(store->kernels[at - 1].data.name, name)))
		at = store->kernels[at - 1].next;
	return at;
}

uint64_t code_kernel(const char *name)
{
	uint64_t found = find_kernel(name);
	uint32_t length = (uint32_t)text_length(name);
	struct kernel *kernel = NULL;
	char *kept;

	if (found || !store_lock())
		return found;
	kept = store_open() ? take_text(length) : NULL;
	if (kept) {
		memcpy(kept, name, length + 1ul);
		kernel = add_kernel(kept, 0);
	}
	if (kernel)
		tell_everybody();
	store_unlock();
	return kernel ? kernel->data.id : 0;
}

void code_forget(unsigned context)
{
	uint64_t others = ~(1ull << context);

	for (uint32_t i = 0; store && i < store->object_count; i++)
		store->objects[i].told &= others;
	for (uint32_t i = 0; store && i < store->kernel_count; i++)
		store->kernels[i].told &= others;
}

void code_after_freeze(struct sdk_frame *frame, uint64_t end)
{
	(void)end;
	if ((int32_t)frame->results[0] || !store_lock())
		return;
	objects_look(frame->integers[0]);
	if (store)
		tell_everybody();
	store_unlock();
}

void code_catch_up(void)
{
	if (!__atomic_load_n(&is_behind, __ATOMIC_SEQ_CST) || !store_lock())
		return;
	__atomic_store_n(&is_behind, 0, __ATOMIC_SEQ_CST);
	objects_look(0);
	if (store)
		tell_everybody();
	store_unlock();
}

/* First its kernels, then itself. */
static void tell_gone(struct object *object)
{
	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		if (!(object->told >> i & 1) || !context_wants(i))
			continue;
		for (uint32_t j = 0; j < store->kernel_count; j++)
			if (store->kernels[j].data.code_object == object->data.id &&
			    store->kernels[j].told >> i & 1)
				context_tell(i, OPERATION_KERNEL, PHASE_EXIT,
					     &store->kernels[j].data);
		context_tell(i, OPERATION_LOAD, PHASE_EXIT, &object->data);
	}
	object->is_gone = true;
	for (uint32_t j = 0; j < store->kernel_count; j++)
		if (store->kernels[j].data.code_object == object->data.id)
			store->kernels[j].is_gone = true;
}

void code_forget_hsa(void)
{
	if (!store || !store_lock())
		return;
	for (uint32_t i = 0; i < store->object_count; i++)
		if (!store->objects[i].is_gone)
			tell_gone(&store->objects[i]);
	hsa.is_known = false;
	store_unlock();
}

void code_before_destroy(struct sdk_frame *frame)
{
	if (!store || !store_lock())
		return;
	for (uint32_t i = 0; i < store->object_count; i++)
		if (store->objects[i].executable == frame->integers[0] &&
		    !store->objects[i].is_gone)
			tell_gone(&store->objects[i]);
	store_unlock();
}
