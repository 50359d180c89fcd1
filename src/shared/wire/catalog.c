/*
 * Checks a catalog of counters.  Runs in the target: no libc, no allocation, every access inside
 * the size that was received.
 */
#include "shared/wire/catalog.h"

#include <errno.h>
#include <stdbool.h>

static const uint32_t sizes[CATALOG_LISTS] = {
	[CATALOG_DEVICES] = sizeof(struct catalog_device),
	[CATALOG_COUNTERS] = sizeof(struct catalog_counter),
	[CATALOG_EVENTS] = sizeof(struct catalog_event),
	[CATALOG_NODES] = sizeof(struct catalog_node),
	[CATALOG_CHOICES] = sizeof(struct catalog_choice),
	[CATALOG_TEXTS] = 1,
};

static bool lists_are_inside(const struct catalog *catalog, uint64_t size)
{
	for (unsigned i = 0; i < CATALOG_LISTS; i++) {
		uint64_t at = catalog->lists[i].at, count = catalog->lists[i].count;

		if (at % sizeof(uint64_t) || at < sizeof(*catalog) || at > size ||
		    count > (size - at) / sizes[i])
			return false;
	}
	return catalog->lists[CATALOG_COUNTERS].count <= CATALOG_IDS_MAX &&
	       catalog->lists[CATALOG_DEVICES].count <= CATALOG_DEVICES_MAX;
}

static bool is_text(const struct catalog *catalog, uint32_t text)
{
	return text < catalog->lists[CATALOG_TEXTS].count;
}

static bool is_range(const struct catalog *catalog, enum catalog_list_kind list, uint32_t first,
		     uint32_t count)
{
	return first <= catalog->lists[list].count && count <= catalog->lists[list].count - first;
}

static bool devices_are_sound(const struct catalog *catalog)
{
	const struct catalog_device *devices = catalog_list(catalog, CATALOG_DEVICES);

	for (uint32_t i = 0; i < catalog->lists[CATALOG_DEVICES].count; i++)
		if (!is_text(catalog, devices[i].architecture) ||
		    !is_range(catalog, CATALOG_COUNTERS, devices[i].first, devices[i].count))
			return false;
	return true;
}

static bool events_are_sound(const struct catalog *catalog)
{
	const struct catalog_event *events = catalog_list(catalog, CATALOG_EVENTS);

	for (uint32_t i = 0; i < catalog->lists[CATALOG_EVENTS].count; i++)
		if (!is_text(catalog, events[i].block))
			return false;
	return true;
}

static bool has_left(uint16_t kind)
{
	return kind >= CATALOG_ADD;
}

static bool has_right(uint16_t kind)
{
	return kind >= CATALOG_ADD && kind <= CATALOG_DIVIDE;
}

/* The limit of the indexes in `what`; UINT32_MAX: it is no index. */
static uint32_t what_limit(const struct catalog *catalog, uint16_t kind)
{
	return kind == CATALOG_EVENT    ? catalog->lists[CATALOG_EVENTS].count
	       : kind == CATALOG_SELECT ? catalog->lists[CATALOG_CHOICES].count
	       : kind == CATALOG_REDUCE ? CATALOG_REDUCTIONS
					: UINT32_MAX;
}

static bool node_is_sound(const struct catalog *catalog, const struct catalog_node *node,
			  uint32_t index)
{
	return node->kind < CATALOG_NODE_KINDS && node->dimensions < 1u << CATALOG_DIMENSIONS &&
	       (node->what < what_limit(catalog, node->kind)) &&
	       (!has_left(node->kind) || node->left < index) &&
	       (!has_right(node->kind) || node->right < index);
}

/* How many nodes are one in the other, and how many there are where each is written out. */
static bool nodes_are_few(const struct catalog_node *nodes, uint32_t count)
{
	uint8_t deep[CATALOG_NODES_MAX];
	uint32_t spread[CATALOG_NODES_MAX];

	for (uint32_t i = 0; i < count; i++) {
		// cppcheck-suppress uninitvar ; parts of a node come before it, see node_is_sound()
		uint8_t left = has_left(nodes[i].kind) ? deep[nodes[i].left] : 0;
		uint8_t right = has_right(nodes[i].kind) ? deep[nodes[i].right] : 0;

		deep[i] = (uint8_t)(MAX(left, right) + 1);
		// cppcheck-suppress uninitvar ; the same
		spread[i] = 1 + (has_left(nodes[i].kind) ? spread[nodes[i].left] : 0) +
			    (has_right(nodes[i].kind) ? spread[nodes[i].right] : 0);
		if (deep[i] > CATALOG_DEEP || spread[i] > CATALOG_NODES_MAX)
			return false;
	}
	return true;
}

static bool counter_is_sound(const struct catalog *catalog, const struct catalog_counter *counter)
{
	const struct catalog_node *nodes =
		(const struct catalog_node *)catalog_list(catalog, CATALOG_NODES) + counter->first;

	if (!is_text(catalog, counter->name) || !is_text(catalog, counter->description) ||
	    !is_text(catalog, counter->block) || !is_text(catalog, counter->expression) ||
	    !is_range(catalog, CATALOG_NODES, counter->first, counter->count) ||
	    counter->count > CATALOG_NODES_MAX)
		return false;
	for (uint32_t i = 0; i < counter->count; i++)
		if (!node_is_sound(catalog, &nodes[i], i))
			return false;
	return nodes_are_few(nodes, counter->count);
}

static bool counters_are_sound(const struct catalog *catalog)
{
	const struct catalog_counter *counters = catalog_list(catalog, CATALOG_COUNTERS);

	for (uint32_t i = 0; i < catalog->lists[CATALOG_COUNTERS].count; i++)
		if (!counter_is_sound(catalog, &counters[i]))
			return false;
	return true;
}

static bool texts_end(const struct catalog *catalog)
{
	uint32_t count = catalog->lists[CATALOG_TEXTS].count;

	return !count || !catalog_text(catalog, count - 1)[0];
}

int catalog_check(const void *memory, uint64_t size)
{
	const struct catalog *catalog = memory;

	if (size < sizeof(*catalog) || size > CATALOG_MAX_BYTES || catalog->size != size ||
	    catalog->magic != CATALOG_MAGIC || catalog->version != CATALOG_VERSION)
		return -EPROTO;
	return lists_are_inside(catalog, size) && texts_end(catalog) &&
			       devices_are_sound(catalog) && events_are_sound(catalog) &&
			       counters_are_sound(catalog)
		       ? 0
		       : -EPROTO;
}
