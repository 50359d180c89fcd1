/*
 * Runs on threads of tools.
 */
#include "target/amd/sinks/sdk/counters/extents.h"

#include "target/amd/counters/packet_sets.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

const uint8_t dimension_ids[CATALOG_DIMENSIONS] = { 1, 2, 3, 5, 6, 7 };

/* aqlprofile cannot unregister a device. */
static struct registered_device {
	struct catalog_device device;
	struct pmc_agent agent;
	bool is_known; /* aqlprofile has accepted it */
} registered[CATALOG_DEVICES_MAX];
static unsigned registered_count;

unsigned dimension_of_name(const char *name)
{
	return name ? dimension_find(name, text_length(name)) : CATALOG_DIMENSIONS;
}

static bool is_same(const struct catalog_device *a, const struct catalog_device *b)
{
	return a->node == b->node && a->xccs == b->xccs && a->engines == b->engines &&
	       a->units == b->units && a->arrays_per_engine == b->arrays_per_engine &&
	       a->domain == b->domain && a->location == b->location;
}

static void device_ask(const struct aqlprofile *library, const struct catalog *catalog,
		       struct registered_device *ret)
{
	const struct catalog_device *device = &ret->device;
	struct pmc_agent_info info = {
		catalog_text(catalog, device->architecture),
		device->xccs,
		device->engines,
		device->units,
		device->arrays_per_engine,
		device->domain,
		device->location,
	};

	ret->is_known = !library->register_agent(&ret->agent, &info, PMC_AGENT_VERSION);
}

static const struct registered_device *device_register(const struct aqlprofile *library,
						       const struct catalog *catalog,
						       const struct catalog_device *device)
{
	unsigned i = 0;

	while (i < registered_count && !is_same(&registered[i].device, device))
		i++;
	if (i == CATALOG_DEVICES_MAX)
		return NULL;
	if (i == registered_count) {
		registered[i].device = *device;
		device_ask(library, catalog, &registered[i]);
		registered_count++;
	}
	return registered[i].is_known ? &registered[i] : NULL;
}

const struct aqlprofile *extents_library(const struct catalog *catalog,
					 const struct catalog_device *device, struct pmc_agent *ret)
{
	const struct registered_device *found = NULL;
	const struct aqlprofile *library;

	/* In a forked child, aqlprofile's locks may be held for ever. */
	if (!page_is_own() || !counters_enter())
		return NULL;
	library = aqlprofile_load();
	if (library)
		found = device_register(library, catalog, device);
	if (found)
		*ret = found->agent;
	counters_leave();
	return found ? library : NULL;
}

struct extents_search {
	const struct catalog *catalog;
	const struct catalog_node *nodes;
	const struct aqlprofile *library;
	struct pmc_agent agent;
};

static int extent_note(int position, int id, int extent, int coordinate, const char *name,
		       void *data)
{
	struct counter_extents *extents = data;
	unsigned dimension = dimension_of_name(name);

	(void)position, (void)id, (void)coordinate;
	if (dimension < CATALOG_DIMENSIONS && extent > 0)
		extents->sizes[dimension] = (uint32_t)extent;
	return 0;
}

static bool event_extents(const struct extents_search *self, uint32_t index,
			  struct counter_extents *ret)
{
	const struct catalog_event *from =
		(const struct catalog_event *)catalog_list(self->catalog, CATALOG_EVENTS) + index;
	struct pmc_profile profile = { .agent = self->agent };
	struct pmc_block block = { .name = catalog_text(self->catalog, from->block) };
	struct pmc_event event = { 0, from->event, from->flags, 0 };

	if (self->library->get_info(&profile, PMC_BLOCK_ID, &block) || !block.instances)
		return false;
	event.block = block.id;
	return !self->library->place(self->agent, event, 0, extent_note, ret);
}

size_t extents_count(const struct counter_extents *extents)
{
	size_t count = 1;

	/* Extents come from a library and are not trusted: clamps the product. */
	for (unsigned i = 0; i < CATALOG_DIMENSIONS; i++)
		count = MIN(count * MAX(extents->sizes[i], 1u), UINT32_MAX);
	return count;
}

static bool node_extents(const struct extents_search *self, uint32_t index,
			 struct counter_extents *ret);

/* The dimensions (bits) that a reduction or a selection removes. */
static unsigned dimensions_left_out(const struct extents_search *self,
				    const struct catalog_node *node)
{
	const struct catalog_choice *choices = catalog_list(self->catalog, CATALOG_CHOICES);

	if (node->kind == CATALOG_SELECT)
		return catalog_choice_single(&choices[node->what], node->dimensions);
	return node->dimensions ? node->dimensions : UINT32_MAX;
}

static bool fewer_extents(const struct extents_search *self, const struct catalog_node *node,
			  struct counter_extents *ret)
{
	unsigned left_out = dimensions_left_out(self, node);

	if (!node_extents(self, node->left, ret))
		return false;
	for (unsigned i = 0; i < CATALOG_DIMENSIONS; i++)
		if (left_out & 1u << i)
			ret->sizes[i] = 0;
	return true;
}

/* An operand with one value is combined with each value of the other. */
static bool both_extents(const struct extents_search *self, const struct catalog_node *node,
			 struct counter_extents *ret)
{
	struct counter_extents right = { { 0 } };

	if (!node_extents(self, node->left, ret) || !node_extents(self, node->right, &right))
		return false;
	if (extents_count(&right) > extents_count(ret))
		*ret = right;
	return true;
}

/* Recursion is as deep as catalog_check() allows. */
static bool node_extents(const struct extents_search *self, uint32_t index,
			 struct counter_extents *ret)
{
	const struct catalog_node *node = &self->nodes[index];

	*ret = (struct counter_extents){ { 0 } };
	switch (node->kind) {
	case CATALOG_NUMBER:
		return true;
	case CATALOG_EVENT:
		return event_extents(self, node->what, ret);
	case CATALOG_REDUCE:
	case CATALOG_SELECT:
		return fewer_extents(self, node, ret);
	default:
		return both_extents(self, node, ret);
	}
}

bool extents_of(const struct catalog *catalog, uint64_t id, struct counter_extents *ret)
{
	const struct catalog_counter *counter = counters_find(catalog, id);
	const struct catalog_device *device = counters_device_of(catalog, id);
	struct extents_search self = { .catalog = catalog };
	bool is_known;

	if (!counter || !device || !counter->count)
		return false;
	self.nodes =
		(const struct catalog_node *)catalog_list(catalog, CATALOG_NODES) + counter->first;
	self.library = extents_library(catalog, device, &self.agent);
	if (!self.library || !packet_sets_enter())
		return false;
	is_known = node_extents(&self, counter->count - 1, ret);
	packet_sets_leave();
	return is_known;
}
