/*
 * Memory of OpenCL: buffers, images, pipes, shared memory. A destructor callback reports the end of
 * an object; for objects older than the session it is set at their next release. Known addresses
 * are kept in lock-free tables: storing the key claims a slot.
 */
#include "target/domains/opencl/opencl.h"
#include "target/hooks/thread.h"
#include "target/runtime/mapping.h"

#include <errno.h>

#define OBJECTS_MAX  16384u
#define MAPPINGS_MAX 4096u
#define PROBES_MAX   64u
#define GONE         1u /* the key of a removed entry */

typedef void destructor(opencl_object object, void *context);
typedef int32_t set_destructor(opencl_object object, destructor *destroy, void *context);

struct known {
	uint64_t key, size, cause;
	uint32_t thread, device;
	bool is_written;
};

struct known_table {
	struct known *items;
	uint32_t count;
};

/* Never unmapped: the driver calls on_destroyed() at any later time. */
static struct known_table objects = { NULL, OBJECTS_MAX }, mappings = { NULL, MAPPINGS_MAX };

static int known_make(struct known_table *table)
{
	if (!table->items)
		table->items = memory_map(table->count * sizeof(struct known), MAP_NORESERVE);
	return table->items ? 0 : -ENOMEM;
}

int memory_start(void)
{
	int r = known_make(&objects);

	return r ? r : known_make(&mappings);
}

static struct known *slot_at(const struct known_table *table, uint64_t key, unsigned probe)
{
	uint32_t first = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 36);

	return &table->items[(first + probe) % table->count];
}

static struct known *known_find(const struct known_table *table, uint64_t key)
{
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		struct known *slot = slot_at(table, key, i);
		uint64_t found = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);

		if (found == key)
			return slot;
		if (!found)
			return NULL;
	}
	return NULL;
}

static struct known *known_add(const struct known_table *table, uint64_t key, uint64_t size)
{
	struct known *known = known_find(table, key);

	for (unsigned i = 0; !known && i < PROBES_MAX; i++) {
		struct known *slot = slot_at(table, key, i);
		uint64_t found = __atomic_load_n(&slot->key, __ATOMIC_RELAXED);

		if (found <= GONE &&
		    __atomic_compare_exchange_n(&slot->key, &found, key, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			known = slot;
	}
	if (known) {
		known->size = size;
		known->cause = known->thread = known->device = 0;
	}
	return known;
}

static void known_forget(struct known *known)
{
	__atomic_store_n(&known->key, GONE, __ATOMIC_RELEASE);
}

/* One change of memory. */
struct change {
	uint64_t size, address, operation, cause;
	uint32_t device, thread;
	uint64_t begin, end;
};

static void record_write(const struct change *change)
{
	const uint64_t values[] = {
		change->size,   change->address, change->device, change->operation, 0, 0,
		change->thread, change->cause
	};
	struct writer *writer;
	writer_seal seal;

	if (!opencl_writes(DOMAIN_MEMORY))
		return;
	if (!change->end) {
		writer_count_lost();
		return;
	}
	writer = writer_begin(&seal);
	if (!writer)
		return;
	(void)work_write(writer, DOMAIN_MEMORY, change->begin, change->end, values);
	writer_end(writer, &seal);
}

/* An object is destroyed: on any thread, at any time. */
static void on_destroyed(opencl_object object, void *context)
{
	struct known *known = known_find(&objects, object);
	uint64_t now = clock_ticks();
	struct change change;

	(void)context;
	if (!known)
		return;
	change = (struct change){ known->size,   object,        MEMORY_FREE, known->cause,
				  known->device, known->thread, now,         now };
	known_forget(known);
	if (writers_are_on())
		record_write(&change);
}

/* Sub-buffers and views have no memory of their own. */
static bool has_memory(const struct opencl_vendor *vendor, opencl_object object, size_t *ret_size)
{
	opencl_object parent = 0;

	vendor_query(vendor, ENTRY_clGetMemObjectInfo, object, MEMORY_PARENT, &parent,
		     sizeof(parent));
	return !parent && vendor_query(vendor, ENTRY_clGetMemObjectInfo, object, MEMORY_SIZE,
				       ret_size, sizeof(*ret_size));
}

static uint32_t device_of(const struct opencl_vendor *vendor, opencl_object object)
{
	opencl_object context = 0;

	if (!vendor_query(vendor, ENTRY_clGetMemObjectInfo, object, MEMORY_CONTEXT, &context,
			  sizeof(context)))
		return 0;
	return device_of_context(vendor, context);
}

/* Returns NULL if no destructor callback can be set. */
static struct known *object_follow(const struct opencl_vendor *vendor, opencl_object object,
				   size_t size, uint32_t device)
{
	set_destructor *set =
		(set_destructor *)vendor->functions[ENTRY_clSetMemObjectDestructorCallback];
	struct known *known = set ? known_add(&objects, object, size) : NULL;

	if (!known)
		return NULL;
	known->device = device;
	if (!set(object, on_destroyed, NULL))
		return known;
	known_forget(known);
	return NULL;
}

void memory_after_create(struct hook_around *around, uint64_t end)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);
	opencl_object object = around->frame.results[0];
	uint32_t device;
	size_t size;

	if (!vendor || !object || !writers_are_on() || !has_memory(vendor, object, &size))
		return;
	device = device_of(vendor, object);
	record_write(&(struct change){ size, object, MEMORY_ALLOCATE, around->frame.begin, device,
				       (uint32_t)thread_number(), around->frame.begin, end });
	object_follow(vendor, object, size, device);
}

/* The call that releases the last reference is the cause of the free. */
void memory_before_release(struct hook_around *around, uint64_t *window)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);
	opencl_object object = hook_argument(&around->frame, 0);
	struct known *known;
	size_t size;

	(void)window;
	if (!vendor || !object || !writers_are_on())
		return;
	known = known_find(&objects, object);
	if (!known && has_memory(vendor, object, &size))
		known = object_follow(vendor, object, size, device_of(vendor, object));
	if (known) {
		known->thread = (uint32_t)thread_number();
		known->cause = around->frame.begin;
	}
}

void memory_after_svm_alloc(struct hook_around *around, uint64_t end)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);
	uint64_t address = around->frame.results[0];
	unsigned entry = vendor_entry(around->frame.hook);
	bool has_device =
		entry == ENTRY_clDeviceMemAllocINTEL || entry == ENTRY_clSharedMemAllocINTEL;
	uint64_t size = hook_argument(&around->frame, has_device ? 3 : 2);
	struct known *known;
	uint32_t device;

	if (!vendor || !address || !writers_are_on())
		return;
	device = device_of_context(vendor, hook_argument(&around->frame, 0));
	known = known_add(&objects, address, size);
	if (known)
		known->device = device;
	record_write(&(struct change){ size, address, MEMORY_ALLOCATE, around->frame.begin, device,
				       (uint32_t)thread_number(), around->frame.begin, end });
}

/* Memory allocated before the attach has no known size. */
void memory_free_shared(const struct hook_around *around, uint64_t address, uint64_t end)
{
	struct known *known = address ? known_find(&objects, address) : NULL;
	struct change change = { .address = address,
				 .operation = MEMORY_FREE,
				 .cause = around->frame.begin,
				 .thread = (uint32_t)thread_number(),
				 .begin = around->frame.begin,
				 .end = end };

	if (!address || !writers_are_on())
		return;
	if (known) {
		change.size = known->size;
		change.device = known->device;
		known_forget(known);
	}
	record_write(&change);
}

/* Another thread may have allocated the address again: then its free has no size. */
void memory_after_svm_free(struct hook_around *around, uint64_t end)
{
	memory_free_shared(around, hook_argument(&around->frame, 1), end);
}

void memory_note_mapping(uint64_t address, uint64_t size, bool is_written)
{
	struct known *known = address ? known_add(&mappings, address, size) : NULL;

	if (known)
		known->is_written = is_written;
}

uint64_t memory_mapped(uint64_t address, bool *is_written)
{
	struct known *known = known_find(&mappings, address);
	uint64_t size = known ? known->size : 0;

	if (!known)
		return 0;
	*is_written = known->is_written;
	known_forget(known);
	return size;
}
