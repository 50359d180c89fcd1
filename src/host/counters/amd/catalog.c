/*
 * Lists that grow, and are put behind each other at the end.
 */
#include "host/counters/amd/catalog.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/counters/amd/devices.h"
#include "shared/wire/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct catalog_part {
	void *items;
	size_t count, room;
};

static const size_t part_sizes[CATALOG_LISTS] = {
	[CATALOG_DEVICES] = sizeof(struct catalog_device),
	[CATALOG_COUNTERS] = sizeof(struct catalog_counter),
	[CATALOG_EVENTS] = sizeof(struct catalog_event),
	[CATALOG_NODES] = sizeof(struct catalog_node),
	[CATALOG_CHOICES] = sizeof(struct catalog_choice),
	[CATALOG_TEXTS] = 1,
};

struct catalog_maker {
	struct amd_counters definitions;
	struct counter_devices devices;
	struct pool texts; /* the part's entries, by number */
	uint32_t *text_offsets;
	size_t offset_count, offset_room;
	struct catalog_part parts[CATALOG_LISTS];
	uint32_t events_first; /* of the device at hand */
	int failure;           /* -ENOMEM, -E2BIG: no more is added */
};

static void part_add(struct catalog_maker *self, enum catalog_list_kind list, const void *item)
{
	struct catalog_part *part = &self->parts[list];
	size_t size = part_sizes[list];

	if (self->failure)
		return;
	if (make_room(&part->items, part->count, &part->room, size)) {
		self->failure = -ENOMEM;
		return;
	}
	memcpy((char *)part->items + part->count++ * size, item, size);
}

/* Each text once; its offset. */
static uint32_t text_put(struct catalog_maker *self, const char *text)
{
	uint32_t number = pool_add(&self->texts, text ? text : "");

	if (number == POOL_NONE)
		self->failure = -ENOMEM;
	if (self->failure)
		return 0;
	if (number < self->offset_count)
		return self->text_offsets[number];
	if (make_room(&self->text_offsets, self->offset_count, &self->offset_room,
		      sizeof(*self->text_offsets))) {
		self->failure = -ENOMEM;
		return 0;
	}
	self->text_offsets[self->offset_count++] = (uint32_t)self->parts[CATALOG_TEXTS].count;
	for (const char *at = text ? text : "";; at++) {
		part_add(self, CATALOG_TEXTS, at);
		if (!*at)
			return self->text_offsets[number];
	}
}

/* Each event of a device is stored once. */
static uint32_t event_put(struct catalog_maker *self, const struct planned_event *planned,
			  const char *architecture)
{
	const struct catalog_event event = { planned->event, planned->flags,
					     text_put(self, planned->block),
					     block_counters(architecture, planned->block) };
	const struct catalog_event *items = self->parts[CATALOG_EVENTS].items;
	size_t count = self->parts[CATALOG_EVENTS].count;

	for (size_t i = self->events_first; i < count; i++)
		if (!memcmp(&items[i], &event, sizeof(event)))
			return (uint32_t)i;
	part_add(self, CATALOG_EVENTS, &event);
	return (uint32_t)count;
}

static const struct planned_event *event_named(const struct counter_plan *plan,
					       const struct expression_node *node)
{
	const struct planned_event *first = NULL;

	for (size_t i = 0; i < plan->event_count; i++) {
		const struct planned_event *event = &plan->events[i];

		if (!text_equals(expression_name_text(node), event->name))
			continue;
		if (event->flags == node->accumulation)
			return event;
		first = first ? first : event;
	}
	/* An event without accumulation may have other flags. */
	return node->accumulation ? NULL : first;
}

static uint32_t choice_put(struct catalog_maker *self, const struct catalog_choice *choice)
{
	uint32_t index = (uint32_t)self->parts[CATALOG_CHOICES].count;

	part_add(self, CATALOG_CHOICES, choice);
	return index;
}

static bool node_put(struct catalog_maker *self, const struct counter_plan *plan,
		     const struct expression_node *node)
{
	struct catalog_node made = expression_catalog_node(node);
	const struct planned_event *event;

	made.left = node->left;
	made.right = node->right;
	if (made.kind == CATALOG_EVENT) {
		event = event_named(plan, node);
		if (!event)
			return false;
		made.what = event_put(self, event, plan->architecture);
	} else if (made.kind == CATALOG_SELECT) {
		made.what = choice_put(self, &node->chosen);
	}
	part_add(self, CATALOG_NODES, &made);
	return true;
}

/* Its nodes, or none where it cannot be collected. */
static void nodes_put(struct catalog_maker *self, const struct counter_plan *plan,
		      struct catalog_counter *counter)
{
	CLEANUP(free) struct expression *expression = malloc(sizeof(*expression));
	struct err ignored = { 0 };

	if (!expression)
		self->failure = -ENOMEM;
	if (self->failure || expression_read(expression, plan->counters[0].expanded, &ignored))
		return;
	for (uint32_t i = 0; i < expression->count; i++)
		if (!node_put(self, plan, &expression->nodes[i])) {
			self->parts[CATALOG_NODES].count = counter->first;
			return;
		}
	counter->count = expression->count;
}

static void counter_put(struct catalog_maker *self, size_t device, const struct amd_counter *from)
{
	/* One device alone: numbers of its driver's are numbers here. */
	const struct plan_devices devices = { &self->devices.items[device], 1, 0 };
	struct catalog_counter counter = { .name = text_put(self, from->name),
					   .description = text_put(self, from->description),
					   .block = text_put(self, from->block),
					   .expression = text_put(self, from->expression),
					   .first = (uint32_t)self->parts[CATALOG_NODES].count };
	struct counter_plan plan;
	struct err ignored = { 0 };

	if (!counter_plan_make(&plan, &self->definitions, &devices, &from->name, 1, &ignored)) {
		if (plan.passes == 1)
			nodes_put(self, &plan, &counter);
		counter_plan_done(&plan);
	}
	if (self->parts[CATALOG_COUNTERS].count == CATALOG_IDS_MAX)
		self->failure = -E2BIG;
	part_add(self, CATALOG_COUNTERS, &counter);
}

static struct catalog_device device_describe(struct catalog_maker *self, size_t index)
{
	const struct counter_device *from = &self->devices.items[index];
	struct counter_shape shape = counter_device_shape(from);

	return (struct catalog_device){
		.node = from->node,
		.xccs = shape.xccs,
		.engines = shape.engines,
		.units = shape.units,
		.arrays_per_engine = shape.arrays_per_engine,
		.domain = shape.domain,
		.location = shape.location,
		.architecture = text_put(self, from->architecture),
		.first = (uint32_t)self->parts[CATALOG_COUNTERS].count,
	};
}

/* An earlier device with equal counters: this one shares them, with the same ids. */
static bool device_share(struct catalog_maker *self, size_t index, struct catalog_device *device)
{
	const struct catalog_device *before = self->parts[CATALOG_DEVICES].items;

	for (size_t i = 0; i < self->parts[CATALOG_DEVICES].count; i++) {
		const struct counter_device *one = &self->devices.items[i],
					    *other = &self->devices.items[index];

		if (strcmp(one->architecture, other->architecture) ||
		    !counter_devices_match(one, other))
			continue;
		device->first = before[i].first;
		device->count = before[i].count;
		return true;
	}
	return false;
}

/* Ids for counters that tools derive from others: after those of the device, unnamed at first. */
static void spares_put(struct catalog_maker *self)
{
	const uint32_t empty = text_put(self, "");
	const struct catalog_counter spare = { empty, empty, empty, empty, 0, 0 };
	size_t left = CATALOG_IDS_MAX - self->parts[CATALOG_COUNTERS].count;

	for (size_t i = 0; i < MIN(left, CATALOG_SPARES); i++)
		part_add(self, CATALOG_COUNTERS, &spare);
}

static void device_put(struct catalog_maker *self, size_t index)
{
	struct catalog_device device = device_describe(self, index);

	self->events_first = (uint32_t)self->parts[CATALOG_EVENTS].count;
	if (!device_share(self, index, &device)) {
		for (size_t i = 0; !self->failure && i < self->definitions.count; i++)
			if (!strcmp(self->definitions.items[i].architecture,
				    self->devices.items[index].architecture))
				counter_put(self, index, &self->definitions.items[i]);
		device.count = (uint32_t)self->parts[CATALOG_COUNTERS].count - device.first;
		spares_put(self);
	}
	part_add(self, CATALOG_DEVICES, &device);
}

static size_t list_align(size_t size)
{
	return (size + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
}

static int parts_join(const struct catalog_maker *self, void **ret, size_t *ret_size)
{
	size_t size = list_align(sizeof(struct catalog)), at = size;
	struct catalog *made;

	for (unsigned i = 0; i < CATALOG_LISTS; i++)
		size += list_align(self->parts[i].count * part_sizes[i]);
	if (size > CATALOG_MAX_BYTES)
		return -E2BIG;
	made = calloc(1, size);
	if (!made)
		return -ENOMEM;
	*made = (struct catalog){ CATALOG_MAGIC, CATALOG_VERSION, size, { { 0 } } };
	for (unsigned i = 0; i < CATALOG_LISTS; i++) {
		const struct catalog_part *part = &self->parts[i];

		made->lists[i].at = (uint32_t)at;
		made->lists[i].count = (uint32_t)part->count;
		if (part->count)
			memcpy((char *)made + at, part->items, part->count * part_sizes[i]);
		at += list_align(part->count * part_sizes[i]);
	}
	*ret = made;
	*ret_size = size;
	return 0;
}

static int definitions_load(struct amd_counters *ret, const struct catalog_origin *origin,
			    struct err *err)
{
	int r = origin->is_text_all ? 0 : amd_counters_load(ret, origin->folder, err);

	return r || !origin->text
		       ? r
		       : amd_counters_parse_tool(ret, origin->text, origin->text_size, err);
}

int counter_catalog_make(const struct catalog_origin *origin, void **ret, size_t *ret_size,
			 struct err *err)
{
	struct catalog_maker self = { .failure = 0 };
	int r = counter_devices_read(&self.devices, err);

	if (!r)
		r = definitions_load(&self.definitions, origin, err);
	if (!r) {
		for (size_t i = 0; i < self.devices.count; i++)
			device_put(&self, i);
		r = self.failure ? self.failure : parts_join(&self, ret, ret_size);
		if (r)
			err_set(err, r, "counters of %zu devices: %s", self.devices.count,
				strerror(-r));
	}
	for (unsigned i = 0; i < CATALOG_LISTS; i++)
		free(self.parts[i].items);
	free(self.text_offsets);
	pool_done(&self.texts);
	counter_devices_done(&self.devices);
	amd_counters_done(&self.definitions);
	return r;
}
