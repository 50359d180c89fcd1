/*
 * On threads of tools.  The operands of - and / stay where they stand, as on the host.
 */
#include "target/sdk/counters/evaluate.h"

#include "target/sdk/counters/extents.h"
#include "target/sdk/counters/record_id.h"

struct place_value {
	uint64_t place;
	double value;
};

struct place_values {
	struct place_value *items;
	size_t count;
};

struct evaluation {
	const struct counted_values *values;
	const struct catalog *catalog;
	const struct catalog_node *nodes;
	struct place_value *memory;
	size_t used, room;
};

static bool values_make(struct evaluation *self, size_t count, struct place_values *ret)
{
	if (self->room - self->used < count)
		return false;
	*ret = (struct place_values){ self->memory + self->used, count };
	self->used += count;
	return true;
}

static bool event_values(struct evaluation *self, uint32_t event, struct place_values *ret)
{
	const struct counted_values *values = self->values;

	if (!values_make(self, values->count, ret))
		return false;
	ret->count = 0;
	for (uint32_t i = 0; i < values->count; i++)
		if (values->items[i].event == event)
			ret->items[ret->count++] =
				(struct place_value){ values->items[i].place,
						      (double)values->items[i].value };
	return ret->count;
}

static double number_combine(uint16_t kind, double left, double right)
{
	switch (kind) {
	case CATALOG_ADD:
		return left + right;
	case CATALOG_SUBTRACT:
		return left - right;
	case CATALOG_MULTIPLY:
		return left * right;
	default:
		return right == 0 ? 0 : left / right;
	}
}

/* The value at that place, which most often has the same index; NULL: there is none. */
static const struct place_value *value_at(const struct place_values *values, uint64_t place,
					  size_t index)
{
	if (values->items[index].place == place)
		return &values->items[index];
	for (size_t i = 0; i < values->count; i++)
		if (values->items[i].place == place)
			return &values->items[i];
	return NULL;
}

static bool node_values(struct evaluation *self, uint32_t index, struct place_values *ret);

/* Place by place; one number goes with each of the other side. */
static bool pair_values(struct evaluation *self, const struct catalog_node *node,
			struct place_values *ret)
{
	struct place_values left, right, longer;

	if (!node_values(self, node->left, &left) || !node_values(self, node->right, &right))
		return false;
	longer = left.count >= right.count ? left : right;
	if ((left.count != right.count && left.count != 1 && right.count != 1) || !left.count ||
	    !right.count || !values_make(self, longer.count, ret))
		return false;
	for (size_t i = 0; i < longer.count; i++) {
		uint64_t place = longer.items[i].place;
		const struct place_value *a = &left.items[left.count == 1 ? 0 : i];
		const struct place_value *b =
			right.count == 1 ? right.items : value_at(&right, place, i);

		if (!b)
			return false;
		ret->items[i] = (struct place_value){ place, number_combine(node->kind, a->value,
									    b->value) };
	}
	return true;
}

static double number_reduce(uint32_t reduction, double sum, double next)
{
	switch (reduction) {
	case CATALOG_MAX:
		return sum > next ? sum : next;
	case CATALOG_MIN:
		return sum < next ? sum : next;
	default:
		return sum + next;
	}
}

/* The values at one place, from `first` on, become one. */
static struct place_value place_reduce(const struct catalog_node *node, struct place_values *values,
				       size_t first)
{
	struct place_value one = values->items[first];
	size_t of = 1, left = first + 1;

	for (size_t i = first + 1; i < values->count; i++) {
		if (values->items[i].place != one.place) {
			values->items[left++] = values->items[i];
			continue;
		}
		one.value = number_reduce(node->what, one.value, values->items[i].value);
		of++;
	}
	values->count = left;
	if (node->what == CATALOG_AVERAGE)
		one.value /= (double)of;
	return one;
}

static void values_reduce(const struct catalog_node *node, struct place_values *values)
{
	for (size_t i = 0; i < values->count; i++)
		values->items[i].place = place_without(
			values->items[i].place, node->dimensions ? node->dimensions : UINT32_MAX);
	for (size_t i = 0; i < values->count; i++)
		values->items[i] = place_reduce(node, values, i);
}

static bool place_is_chosen(const struct catalog_node *node, const struct catalog_choice *choice,
			    uint64_t place)
{
	for (unsigned i = 0; i < CATALOG_DIMENSIONS; i++) {
		unsigned number = place_in(place, i);

		if (node->dimensions & 1u << i &&
		    (number >= 64 || !(choice->numbers[i] >> number & 1)))
			return false;
	}
	return true;
}

static void values_select(const struct evaluation *self, const struct catalog_node *node,
			  struct place_values *values)
{
	const struct catalog_choice *choice =
		(const struct catalog_choice *)catalog_list(self->catalog, CATALOG_CHOICES) +
		node->what;
	unsigned single = catalog_choice_single(choice, node->dimensions);
	size_t count = 0;

	for (size_t i = 0; i < values->count; i++) {
		struct place_value value = values->items[i];

		if (!place_is_chosen(node, choice, value.place))
			continue;
		value.place = place_without(value.place, single);
		values->items[count++] = value;
	}
	values->count = count;
}

/* As deep as catalog_check() allows. */
static bool node_values(struct evaluation *self, uint32_t index, struct place_values *ret)
{
	const struct catalog_node *node = &self->nodes[index];

	switch (node->kind) {
	case CATALOG_NUMBER:
		if (!values_make(self, 1, ret))
			return false;
		ret->items[0] = (struct place_value){ 0, node->number };
		return true;
	case CATALOG_EVENT:
		return event_values(self, node->what, ret);
	case CATALOG_REDUCE:
	case CATALOG_SELECT:
		if (!node_values(self, node->left, ret))
			return false;
		if (node->kind == CATALOG_REDUCE)
			values_reduce(node, ret);
		else
			values_select(self, node, ret);
		return true;
	default:
		return pair_values(self, node, ret);
	}
}

/* False: a number that ids have no room for. */
static bool id_make(uint64_t counter, uint64_t place, uint64_t *ret)
{
	*ret = record_id(counter);
	for (unsigned i = 0; i < CATALOG_DIMENSIONS; i++) {
		unsigned number = place_in(place, i);

		if (number >> RECORD_ID_BITS)
			return false;
		*ret |= record_id_place(dimension_ids[i], number);
	}
	return true;
}

static bool records_add(struct counter_records *ret, uint64_t counter,
			const struct place_values *values, struct sdk_handle agent)
{
	for (size_t i = 0; i < values->count; i++) {
		struct counter_record *record = &ret->items[ret->count];

		if (ret->count == ret->room)
			return false;
		*record =
			(struct counter_record){ .value = values->items[i].value, .agent = agent };
		if (!id_make(counter, values->items[i].place, &record->id))
			return false;
		ret->count++;
	}
	return values->count;
}

bool counters_evaluate(const struct counter_config *config, const struct counted_values *counted,
		       void *memory, struct counter_records *ret)
{
	struct evaluation self = { .values = counted,
				   .catalog = config->catalog,
				   .memory = memory,
				   .room = EVALUATION_BYTES / sizeof(*self.memory) };

	for (uint32_t i = 0; i < config->counter_count; i++) {
		const struct catalog_counter *counter =
			counters_find(config->catalog, config->counters[i]);
		struct place_values values;

		self.nodes =
			(const struct catalog_node *)catalog_list(config->catalog, CATALOG_NODES) +
			counter->first;
		self.used = 0;
		if (!node_values(&self, counter->count - 1, &values) ||
		    !records_add(ret, config->counters[i], &values, config->agent))
			return false;
	}
	return true;
}
