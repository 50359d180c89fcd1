/*
 * The function tables of drivers, and queries through these: maps hooks to their vendors. limpet's
 * thread adds vendors; any thread reads these.
 */
#include "target/domains/opencl/opencl.h"
#include "target/hooks/got/got.h"

#define VENDORS_MAX 64u                 /* a driver loaded again counts anew */
#define ICD2_TAG    0x4f50454e434c3331u /* of a loader's table; the driver's own comes second */

typedef int32_t get_info(opencl_object object, uint32_t name, size_t size, void *value,
			 size_t *ret_size);
typedef int32_t object_function(opencl_object object);

static struct opencl_vendor vendors[VENDORS_MAX];
static uint32_t vendor_count;
static const struct traced *first_traced; /* of entry 0 */

/* Tables of objects, and the number of slots of the vendor that made the object. */
static struct object_table objects[VENDORS_MAX];
static uint32_t object_count;

void vendors_start(const struct traced *traced)
{
	first_traced = traced;
}

unsigned vendor_entry(const struct hook *hook)
{
	return (unsigned)(hook->traced - first_traced);
}

const struct opencl_vendor *vendor_of(const struct hook *hook)
{
	unsigned entry = vendor_entry(hook);
	/* Acquire: pairs with vendor_add(). */
	uint32_t count = __atomic_load_n(&vendor_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; entry < OPENCL_ENTRIES && i < count; i++)
		if (vendors[i].functions[entry] == hook->original)
			return &vendors[i];
	return NULL;
}

struct opencl_vendor *vendor_at(uint32_t index)
{
	return index < __atomic_load_n(&vendor_count, __ATOMIC_ACQUIRE) ? &vendors[index] : NULL;
}

bool vendor_query(const struct opencl_vendor *vendor, enum opencl_entry entry, opencl_object object,
		  uint32_t name, void *value, size_t size)
{
	get_info *ask = (get_info *)vendor->functions[entry];

	return ask && !ask(object, name, size, value, NULL);
}

int32_t vendor_call(const struct opencl_vendor *vendor, enum opencl_entry entry,
		    opencl_object object)
{
	return ((object_function *)vendor->functions[entry])(object);
}

void *vendor_keep(const struct opencl_vendor *vendor)
{
	return got_hold(vendor->functions[ENTRY_clReleaseEvent]);
}

uint64_t *vendor_table_of(opencl_object object)
{
	uint64_t **words = (uint64_t **)object;

	return words[0][ENTRY_clGetPlatformIDs] == ICD2_TAG ? words[1] : words[0];
}

struct opencl_vendor *vendor_with_table(const uint64_t *table)
{
	uint32_t count = __atomic_load_n(&vendor_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (vendors[i].table == table)
			return &vendors[i];
	return NULL;
}

struct opencl_vendor *vendor_add(uint64_t *table)
{
	struct opencl_vendor *vendor = &vendors[vendor_count];

	if (vendor_count == VENDORS_MAX)
		return NULL;
	vendor->table = table;
	/* Release: pairs with the acquire in vendor_of(). */
	__atomic_store_n(&vendor_count, vendor_count + 1, __ATOMIC_RELEASE);
	return vendor;
}

bool vendor_object_table(uint32_t index, struct object_table *ret)
{
	uint32_t count = __atomic_load_n(&object_count, __ATOMIC_ACQUIRE);

	if (index >= MIN(count, VENDORS_MAX))
		return false;
	ret->table = __atomic_load_n(&objects[index].table, __ATOMIC_ACQUIRE);
	ret->slot_count = objects[index].slot_count;
	return true;
}

void vendor_note_object(const struct opencl_vendor *vendor, opencl_object object)
{
	uint64_t *table = object ? vendor_table_of(object) : NULL;
	uint32_t index;

	if (!table || vendor_with_table(table))
		return;
	for (uint32_t i = 0; i < MIN(object_count, VENDORS_MAX); i++)
		if (__atomic_load_n(&objects[i].table, __ATOMIC_RELAXED) == table)
			return;
	index = __atomic_fetch_add(&object_count, 1, __ATOMIC_ACQ_REL);
	if (index >= VENDORS_MAX)
		return;
	objects[index].slot_count = vendor->slot_count;
	__atomic_store_n(&objects[index].table, table, __ATOMIC_RELEASE);
}

void vendor_after_context(struct hook_around *around, uint64_t end)
{
	const struct opencl_vendor *vendor = vendor_of(around->frame.hook);

	(void)end;
	if (vendor && writers_are_on())
		vendor_note_object(vendor, around->frame.results[0]);
}
