/*
 * Counters' descriptions and their positions in a device. Runs on threads of tools.
 */
#include "target/amd/sinks/sdk/counters/info.h"

#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/extents.h"
#include "target/amd/sinks/sdk/counters/record_id.h"

#define KEPT_ROOM 4096u

enum { INFO_VERSION_0 = 1, INFO_VERSION_1 };

/* The next five layouts are from AMD's headers. */
struct info_0 {
	struct sdk_handle id;
	const char *name, *description, *block, *expression;
	uint8_t is_constant : 1, is_derived : 1;
};

struct dimension_info {
	const char *name;
	size_t size;
	uint64_t id;
};

struct place_info {
	uint64_t size;
	const char *name;
	size_t index;
};

struct instance_info {
	uint64_t size, id, counter, place_count;
	const struct place_info **places;
};

struct info_1 {
	uint64_t size;
	struct sdk_handle id;
	const char *name, *description, *block, *expression;
	uint8_t is_constant : 1, is_derived : 1;
	uint64_t dimension_count;
	const struct dimension_info *const *dimensions;
	uint64_t instance_count;
	const struct instance_info *const *instances;
};
_Static_assert(sizeof(struct info_0) == 48 && sizeof(struct info_1) == 88, "as in the headers");

typedef int dimensions_function(struct sdk_handle id, const struct dimension_info *dimensions,
				size_t count, void *data);

/* A description that a tool has queried; kept as long as a tool may read it. */
struct kept_info {
	const struct kept_info *next;
	const struct catalog *catalog;
	uint64_t id;
	struct dimension_info dimensions[CATALOG_DIMENSIONS];
	const struct dimension_info *dimension_list[CATALOG_DIMENSIONS];
	size_t dimension_count, instance_count;
	const struct instance_info **instances;
};

static const struct kept_info *kept[KEPT_ROOM];

/* A counter without dimensions has one instance. */
static size_t dimensions_list(const struct counter_extents *extents, struct dimension_info *ret)
{
	size_t count = 0;

	for (unsigned i = 0; i < CATALOG_DIMENSIONS; i++)
		if (extents->sizes[i])
			ret[count++] =
				(struct dimension_info){ dimension_names[i].name, extents->sizes[i],
							 dimension_ids[i] };
	if (!count)
		ret[count++] =
			(struct dimension_info){ dimension_names[CATALOG_DIMENSIONS - 1].name, 1,
						 dimension_ids[CATALOG_DIMENSIONS - 1] };
	return count;
}

/* The positions of an instance; the first dimension varies fastest. */
static void instance_fill(const struct kept_info *info, size_t number, struct instance_info *ret,
			  struct place_info *places)
{
	*ret = (struct instance_info){ .size = sizeof(*ret),
				       .id = record_id(info->id),
				       .counter = info->id,
				       .place_count = info->dimension_count };
	for (size_t i = 0; i < info->dimension_count; i++) {
		const struct dimension_info *dimension = &info->dimensions[i];

		places[i] = (struct place_info){ sizeof(places[i]), dimension->name,
						 number % dimension->size };
		ret->id |= record_id_place(dimension->id, number % dimension->size);
		number /= dimension->size;
	}
}

static bool instances_make(struct kept_info *info)
{
	size_t count = info->instance_count, dimensions = info->dimension_count;
	struct instance_info *items = counters_memory(count * sizeof(*items));
	struct place_info *places = counters_memory(count * dimensions * sizeof(*places));
	const struct place_info **list = counters_memory(count * dimensions * sizeof(void *));

	info->instances = counters_memory(count * sizeof(void *));
	if (!items || !places || !list || !info->instances)
		return false;
	for (size_t i = 0; i < count; i++) {
		instance_fill(info, i, &items[i], &places[i * dimensions]);
		for (size_t j = 0; j < dimensions; j++)
			list[i * dimensions + j] = &places[i * dimensions + j];
		items[i].places = &list[i * dimensions];
		info->instances[i] = &items[i];
	}
	return true;
}

static const struct kept_info *kept_find(const struct catalog *catalog, uint64_t id)
{
	const struct kept_info *at = __atomic_load_n(&kept[id % KEPT_ROOM], __ATOMIC_ACQUIRE);

	while (at && (at->id != id || at->catalog != catalog))
		at = at->next;
	return at;
}

/* Under counters_enter(). */
static const struct kept_info *kept_make(const struct catalog *catalog, uint64_t id,
					 const struct counter_extents *extents)
{
	struct kept_info *info = counters_memory(sizeof(*info));

	if (!info)
		return NULL;
	info->id = id;
	info->catalog = catalog;
	info->dimension_count = dimensions_list(extents, info->dimensions);
	info->instance_count = extents_count(extents);
	for (size_t i = 0; i < info->dimension_count; i++)
		info->dimension_list[i] = &info->dimensions[i];
	if (!instances_make(info))
		return NULL;
	info->next = kept[id % KEPT_ROOM];
	__atomic_store_n(&kept[id % KEPT_ROOM], info, __ATOMIC_RELEASE);
	return info;
}

static const struct kept_info *info_keep(const struct catalog *catalog, uint64_t id,
					 const struct counter_extents *extents)
{
	const struct kept_info *found = kept_find(catalog, id);

	if (found || !counters_enter())
		return found;
	found = kept_find(catalog, id);
	if (!found)
		found = kept_make(catalog, id, extents);
	counters_leave();
	return found;
}

void info_forget(void)
{
	for (unsigned i = 0; i < KEPT_ROOM; i++)
		kept[i] = NULL;
}

static void info_fill_0(const struct catalog *catalog, uint64_t id, struct info_0 *ret)
{
	const struct catalog_counter *counter = counters_find(catalog, id);

	*ret = (struct info_0){
		.id = { id },
		.name = catalog_text(catalog, counter->name),
		.description = catalog_text(catalog, counter->description),
		.block = catalog_text(catalog, counter->block),
		.expression = catalog_text(catalog, counter->expression),
		.is_derived = catalog_text(catalog, counter->expression)[0] != 0,
	};
}

/* A counter that aqlprofile does not know has no dimensions, as in AMD's library; tools such as
 * AMD's buffered sample read the first list entry all the same. */
static int info_fill_1(const struct catalog *catalog, uint64_t id, struct info_1 *ret)
{
	static const struct dimension_info *const no_dimension;
	static const struct instance_info *const no_instance;
	const struct kept_info *info;
	struct counter_extents extents;
	struct info_0 base;

	info_fill_0(catalog, id, &base);
	*ret = (struct info_1){ .size = sizeof(*ret),
				.id = base.id,
				.name = base.name,
				.description = base.description,
				.block = base.block,
				.expression = base.expression,
				.is_derived = base.is_derived,
				.dimensions = &no_dimension,
				.instances = &no_instance };
	if (!extents_of(catalog, id, &extents))
		return SDK_SUCCESS;
	info = info_keep(catalog, id, &extents);
	if (!info)
		return SDK_OUT_OF_RESOURCES;
	ret->dimension_count = info->dimension_count;
	ret->dimensions = info->dimension_list;
	ret->instance_count = info->instance_count;
	ret->instances = info->instances;
	return SDK_SUCCESS;
}

SDK_EXPORT int rocprofiler_query_counter_info(struct sdk_handle id, int version, void *ret);
SDK_EXPORT int rocprofiler_iterate_counter_dimensions(struct sdk_handle id,
						      dimensions_function *callback, void *data);
SDK_EXPORT int rocprofiler_query_counter_instance_count(struct sdk_handle agent,
							struct sdk_handle id, size_t *ret);

int rocprofiler_query_counter_info(struct sdk_handle id, int version, void *ret)
{
	const struct catalog *catalog = counters_catalog();

	if (!ret)
		return SDK_INVALID_ARGUMENT;
	if (version != INFO_VERSION_0 && version != INFO_VERSION_1)
		return SDK_INCOMPATIBLE_ABI;
	if (!catalog || !counters_find(catalog, id.handle))
		return SDK_COUNTER_NOT_FOUND;
	if (version == INFO_VERSION_1)
		return info_fill_1(catalog, id.handle, ret);
	info_fill_0(catalog, id.handle, ret);
	return SDK_SUCCESS;
}

int rocprofiler_iterate_counter_dimensions(struct sdk_handle id, dimensions_function *callback,
					   void *data)
{
	const struct catalog *catalog = counters_catalog();
	struct dimension_info dimensions[CATALOG_DIMENSIONS];
	struct counter_extents extents;

	if (!callback)
		return SDK_INVALID_ARGUMENT;
	if (!catalog || !counters_find(catalog, id.handle))
		return SDK_COUNTER_NOT_FOUND;
	if (!extents_of(catalog, id.handle, &extents))
		return SDK_DIM_NOT_FOUND;
	callback(id, dimensions, dimensions_list(&extents, dimensions), data);
	return SDK_SUCCESS;
}

int rocprofiler_query_counter_instance_count(struct sdk_handle agent, struct sdk_handle id,
					     size_t *ret)
{
	const struct catalog *catalog = counters_catalog();
	struct counter_extents extents;

	(void)agent;
	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = 0;
	if (!catalog || !counters_find(catalog, id.handle))
		return SDK_COUNTER_NOT_FOUND;
	if (extents_of(catalog, id.handle, &extents))
		*ret = extents_count(&extents);
	return SDK_SUCCESS;
}
