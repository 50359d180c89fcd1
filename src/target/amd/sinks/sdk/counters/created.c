/*
 * Counters that tools derive from others. Runs on threads of tools. Under counters_enter(), each is
 * added to the catalog behind what readers use, and published when complete.
 */
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/created_nodes.h"
#include "target/amd/sinks/sdk/counters/store.h"
#include "target/runtime/text.h"

#include <string.h>

#define LETTERS_MAX 16384u /* of one string */
#define NOWHERE     UINT32_MAX

SDK_EXPORT int rocprofiler_create_counter(const char *name, size_t name_length,
					  const char *expression, size_t expression_length,
					  const char *description, size_t description_length,
					  struct sdk_handle agent, struct sdk_handle *ret);

/* The arguments of rocprofiler_create_counter(). */
struct counter_wish {
	struct catalog_text_part {
		const char *text;
		size_t length;
	} name, expression, description;
	struct sdk_handle agent;
};

static bool is_same(const char *text, const struct catalog_text_part *part)
{
	return text_length(text) == part->length && !memcmp(text, part->text, part->length);
}

/* The counter's id; 0: none. */
static uint64_t counter_named(const struct catalog *catalog, const struct catalog_device *device,
			      const struct catalog_text_part *name)
{
	const struct catalog_counter *counters = catalog_list(catalog, CATALOG_COUNTERS);

	for (uint32_t i = device->first; i < device->first + device->count; i++)
		if (is_same(catalog_text(catalog, counters[i].name), name))
			return i + 1;
	return 0;
}

/* A tool that is attached again creates the same counters again. */
static int counter_repeat(const struct catalog *catalog, const struct counter_wish *wish,
			  uint64_t id, struct sdk_handle *ret)
{
	const struct catalog_counter *counter = counters_find(catalog, id);

	if (!is_same(catalog_text(catalog, counter->expression), &wish->expression))
		return SDK_INVALID_ARGUMENT;
	ret->handle = id;
	return SDK_SUCCESS;
}

/* Returns the string's offset; NOWHERE: no room. */
static uint32_t text_put(struct catalog *catalog, const struct catalog_text_part *part)
{
	uint32_t at = catalog->lists[CATALOG_TEXTS].count;
	char *text = counters_grow(catalog, CATALOG_TEXTS, (uint32_t)part->length + 1);

	if (!text)
		return NOWHERE;
	memcpy(text, part->text, part->length);
	text[part->length] = '\0';
	return at;
}

static bool list_put(struct catalog *catalog, enum catalog_list_kind list, const void *items,
		     uint32_t count, size_t size)
{
	void *into = counters_grow(catalog, list, count);

	if (into)
		memcpy(into, items, count * size);
	return into;
}

/* Fills an entry that the host has reserved behind the device's own counters. */
static bool counter_fill(struct catalog *catalog, const struct counter_wish *wish,
			 const struct created_nodes *nodes, struct catalog_counter *counter)
{
	struct catalog_counter made = { .name = text_put(catalog, &wish->name),
					.description = text_put(catalog, &wish->description),
					.block = counter->block,
					.expression = text_put(catalog, &wish->expression),
					.first = catalog->lists[CATALOG_NODES].count,
					.count = nodes->count };

	if (made.name == NOWHERE || made.description == NOWHERE || made.expression == NOWHERE ||
	    !list_put(catalog, CATALOG_EVENTS, nodes->events, nodes->event_count,
		      sizeof(nodes->events[0])) ||
	    !list_put(catalog, CATALOG_CHOICES, nodes->choices, nodes->choice_count,
		      sizeof(nodes->choices[0])) ||
	    !list_put(catalog, CATALOG_NODES, nodes->items, nodes->count, sizeof(nodes->items[0])))
		return false;
	*counter = made;
	return true;
}

/* Devices of one kind share their counters. */
static void devices_publish(struct catalog *catalog, uint32_t first, uint32_t count)
{
	struct catalog_device *devices =
		(struct catalog_device *)((char *)catalog + catalog->lists[CATALOG_DEVICES].at);

	for (uint32_t i = 0; i < catalog->lists[CATALOG_DEVICES].count; i++)
		if (devices[i].first == first)
			/* Release: pairs with device_count(); publishes the counter. */
			__atomic_store_n(&devices[i].count, count, __ATOMIC_RELEASE);
}

/* NULL: the host has reserved no more entries. */
static struct catalog_counter *counter_spare(struct catalog *catalog, uint32_t index)
{
	struct catalog_counter *counters =
		(struct catalog_counter *)((char *)catalog + catalog->lists[CATALOG_COUNTERS].at);

	return index < catalog->lists[CATALOG_COUNTERS].count && !counters[index].count &&
			       !catalog_text(catalog, counters[index].name)[0]
		       ? &counters[index]
		       : NULL;
}

static int counter_add(struct catalog *catalog, const struct catalog_device *device,
		       const struct counter_wish *wish, const struct created_nodes *nodes)
{
	uint32_t index = device->first + device->count;
	struct catalog_counter *counter = counter_spare(catalog, index), before;
	struct catalog old = *catalog;

	if (!counter)
		return SDK_OUT_OF_RESOURCES;
	before = *counter;
	if (!counter_fill(catalog, wish, nodes, counter)) {
		*catalog = old;
		return SDK_OUT_OF_RESOURCES;
	}
	if (catalog_check(catalog, catalog->size)) {
		*counter = before;
		*catalog = old;
		return SDK_AST_GENERATION_FAILED;
	}
	devices_publish(catalog, device->first, device->count + 1);
	return SDK_SUCCESS;
}

/* Under counters_enter(). */
static int counter_make(const struct counter_wish *wish, struct sdk_handle *ret)
{
	static struct created_nodes nodes; /* too large for a stack */
	struct catalog *catalog = counters_own_catalog();
	const struct catalog_device *device;
	uint64_t id;
	int r;

	if (!catalog)
		return SDK_OUT_OF_RESOURCES;
	device = counters_device(catalog, wish->agent);
	if (!device)
		return SDK_AGENT_ARCH_NOT_SUPPORTED;
	id = counter_named(catalog, device, &wish->name);
	if (id)
		return counter_repeat(catalog, wish, id, ret);
	if (!created_nodes_make(&nodes, wish->expression.text, wish->expression.length, catalog,
				device))
		return SDK_AST_GENERATION_FAILED;
	id = device->first + device->count + 1;
	r = counter_add(catalog, device, wish, &nodes);
	if (!r)
		ret->handle = id;
	return r;
}

/* Stops at a zero byte, which `length` may include; of an overlong string the length counts. */
static struct catalog_text_part text_part(const char *text, size_t length)
{
	struct catalog_text_part part = { text, 0 };

	while (text && part.length < MIN(length, LETTERS_MAX + 1) && text[part.length])
		part.length++;
	return part;
}

static bool is_wish(const struct counter_wish *wish)
{
	return wish->name.length && wish->name.length <= LETTERS_MAX && wish->expression.length &&
	       wish->expression.length <= LETTERS_MAX && wish->description.length <= LETTERS_MAX;
}

int rocprofiler_create_counter(const char *name, size_t name_length, const char *expression,
			       size_t expression_length, const char *description,
			       size_t description_length, struct sdk_handle agent,
			       struct sdk_handle *ret)
{
	const struct counter_wish wish = {
		text_part(name, name_length),
		text_part(expression, expression_length),
		text_part(description, description_length),
		agent,
	};
	int r;

	if (!is_wish(&wish) || !ret)
		return SDK_INVALID_ARGUMENT;
	if (!counters_know_agent(agent))
		return SDK_AGENT_NOT_FOUND;
	if (!counters_catalog())
		return SDK_AGENT_ARCH_NOT_SUPPORTED;
	if (!counters_enter())
		return SDK_OUT_OF_RESOURCES;
	r = counter_make(&wish, ret);
	counters_leave();
	return r;
}
