/*
 * Runs on threads of tools, under counters_enter().
 */
#include "target/amd/sinks/sdk/counters/created_nodes.h"

#include "shared/counters/expression.h"
#include "target/runtime/text.h"

struct nodes_maker {
	struct created_nodes *into;
	const struct catalog *catalog;
	const struct catalog_device *device;
};

static bool node_add(const struct nodes_maker *self, const struct catalog_node *node)
{
	if (self->into->count == CATALOG_NODES_MAX)
		return false;
	self->into->items[self->into->count++] = *node;
	return true;
}

static bool name_is(const struct expression_name *name, const char *text)
{
	size_t i = 0;

	while (i < name->length && text[i] && name->at[i] == text[i])
		i++;
	return i == name->length && !text[i];
}

static const struct catalog_counter *counter_named(const struct nodes_maker *self,
						   const struct expression_name *name)
{
	const struct catalog_counter *counters = catalog_list(self->catalog, CATALOG_COUNTERS);

	for (uint32_t i = 0; i < self->device->count; i++) {
		const struct catalog_counter *counter = &counters[self->device->first + i];

		if (name_is(name, catalog_text(self->catalog, counter->name)))
			return counter;
	}
	return NULL;
}

/* Copies the nodes of the named counter. */
static bool counter_add(const struct nodes_maker *self, const struct expression_name *name)
{
	const struct catalog_counter *counter = counter_named(self, name);
	const struct catalog_node *nodes = catalog_list(self->catalog, CATALOG_NODES);
	uint32_t first = self->into->count;

	for (uint32_t i = 0; counter && i < counter->count; i++) {
		struct catalog_node node = nodes[counter->first + i];

		node.left += first;
		node.right += first;
		if (!node_add(self, &node))
			return false;
	}
	return counter && counter->count;
}

static bool is_same(const struct catalog_event *a, const struct catalog_event *b)
{
	return a->event == b->event && a->flags == b->flags && a->block == b->block &&
	       a->limit == b->limit;
}

/* The number of the event in the catalog, or among the added ones. Each event exists once: values
 * are stored for one number only. False: too many events. */
static bool event_find(const struct nodes_maker *self, const struct catalog_event *event,
		       uint32_t *ret)
{
	const struct catalog_event *events = catalog_list(self->catalog, CATALOG_EVENTS);
	struct created_nodes *into = self->into;
	uint32_t own = self->catalog->lists[CATALOG_EVENTS].count;

	for (*ret = 0; *ret < own + into->event_count; ++*ret)
		if (is_same(*ret < own ? &events[*ret] : &into->events[*ret - own], event))
			return true;
	if (into->event_count == CREATED_EVENTS_MAX)
		return false;
	into->events[into->event_count++] = *event;
	return true;
}

/* Adds the same event with other flags. Only block SQ accumulates over time; what other blocks do
 * with these flags is unknown. */
static bool accumulation_add(const struct nodes_maker *self, const struct expression_node *from)
{
	const struct catalog_event *events = catalog_list(self->catalog, CATALOG_EVENTS);
	struct catalog_node *node;
	struct catalog_event event;

	if (!counter_add(self, &from->name))
		return false;
	node = &self->into->items[self->into->count - 1];
	if (node->kind != CATALOG_EVENT)
		return false;
	event = events[node->what];
	if (!from->accumulation)
		return true;
	event.flags = from->accumulation;
	return text_equal(catalog_text(self->catalog, event.block), "SQ") &&
	       event_find(self, &event, &node->what);
}

static bool selection_add(const struct nodes_maker *self, struct catalog_node *node,
			  const struct catalog_choice *chosen)
{
	struct created_nodes *into = self->into;

	if (into->choice_count == CREATED_CHOICES_MAX)
		return false;
	node->what = self->catalog->lists[CATALOG_CHOICES].count + into->choice_count;
	into->choices[into->choice_count++] = *chosen;
	return node_add(self, node);
}

/* `ends`: the last catalog node of each earlier expression node. */
static bool node_make(const struct nodes_maker *self, const struct expression_node *from,
		      const uint32_t *ends)
{
	struct catalog_node node = expression_catalog_node(from);

	switch (from->kind) {
	case EXPRESSION_NUMBER:
		return node_add(self, &node);
	case EXPRESSION_NAME:
		return counter_add(self, &from->name);
	case EXPRESSION_ACCUMULATE:
		return accumulation_add(self, from);
	default:
		node.left = ends[from->left];
		node.right = ends[from->right];
		return from->kind == EXPRESSION_SELECT ? selection_add(self, &node, &from->chosen)
						       : node_add(self, &node);
	}
}

bool created_nodes_make(struct created_nodes *ret, const char *text, size_t length,
			const struct catalog *catalog, const struct catalog_device *device)
{
	/* Static: too large for a stack. */
	static struct expression expression;
	static uint32_t ends[EXPRESSION_NODES_MAX];
	const struct nodes_maker self = { ret, catalog, device };
	struct expression_fault ignored;

	ret->count = ret->choice_count = ret->event_count = 0;
	if (!expression_parse(&expression, text, length, &ignored))
		return false;
	for (uint32_t i = 0; i < expression.count; i++) {
		if (!node_make(&self, &expression.nodes[i], ends))
			return false;
		ends[i] = ret->count - 1;
	}
	return true;
}
