/*
 * The operands of - and / keep their sides, for any number of values: AMD's own evaluation swaps
 * them when the left operand has fewer.
 */
#include "shared/counters/evaluate.h"

#include "shared/counters/dimension.h"

#include <errno.h>
#include <stdbool.h>

int values_make(struct evaluation *self, size_t count, struct counter_values *ret)
{
	if (self->room - self->used < count)
		return -ENOSPC;
	*ret = (struct counter_values){ self->memory + self->used, count };
	self->used += count;
	return 0;
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
static const struct counter_value *value_at(const struct counter_values *values, uint64_t place,
					    size_t index)
{
	if (values->items[index].place == place)
		return &values->items[index];
	for (size_t i = 0; i < values->count; i++)
		if (values->items[i].place == place)
			return &values->items[i];
	return NULL;
}

/* Place by place; a single number is combined with each value of the other side. */
static int values_combine(struct evaluation *self, uint16_t kind, const struct counter_values *left,
			  const struct counter_values *right, struct counter_values *ret)
{
	const struct counter_values *longer = left->count >= right->count ? left : right;
	bool is_empty = !left->count || !right->count;

	if (left->count != right->count && left->count != 1 && right->count != 1)
		return -EINVAL;
	if (values_make(self, is_empty ? 0 : longer->count, ret))
		return -ENOSPC;
	for (size_t i = 0; i < ret->count; i++) {
		uint64_t place = longer->items[i].place;
		const struct counter_value *a = &left->items[left->count == 1 ? 0 : i];
		const struct counter_value *b =
			right->count == 1 ? right->items : value_at(right, place, i);

		if (!b)
			return -EINVAL;
		ret->items[i] =
			(struct counter_value){ place, number_combine(kind, a->value, b->value) };
	}
	return 0;
}

static int pair_evaluate(struct evaluation *self, const struct catalog_node *node,
			 struct counter_values *ret)
{
	struct counter_values left, right;
	int r = node_evaluate(self, node->left, &left);

	if (!r)
		r = node_evaluate(self, node->right, &right);
	return r ? r : values_combine(self, node->kind, &left, &right, ret);
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
static struct counter_value place_reduce(const struct catalog_node *node,
					 struct counter_values *values, size_t first)
{
	struct counter_value one = values->items[first];
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

static void values_reduce(const struct catalog_node *node, struct counter_values *values)
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
	for (unsigned i = 0; i < DIMENSIONS; i++) {
		unsigned number = place_in(place, i);

		if (node->dimensions & 1u << i &&
		    (number >= 64 || !(choice->numbers[i] >> number & 1)))
			return false;
	}
	return true;
}

static void values_select(const struct catalog_node *node, const struct catalog_choice *choice,
			  struct counter_values *values)
{
	unsigned single = catalog_choice_single(choice, node->dimensions);
	size_t count = 0;

	for (size_t i = 0; i < values->count; i++) {
		struct counter_value value = values->items[i];

		if (!place_is_chosen(node, choice, value.place))
			continue;
		value.place = place_without(value.place, single);
		values->items[count++] = value;
	}
	values->count = count;
}

int node_evaluate(struct evaluation *self, uint32_t index, struct counter_values *ret)
{
	const struct catalog_node *node = &self->nodes[index];
	int r;

	switch (node->kind) {
	case CATALOG_NUMBER:
		r = values_make(self, 1, ret);
		if (!r)
			ret->items[0] = (struct counter_value){ 0, node->number };
		return r;
	case CATALOG_EVENT:
		return self->find(self, node, ret);
	case CATALOG_REDUCE:
		r = node_evaluate(self, node->left, ret);
		if (!r)
			values_reduce(node, ret);
		return r;
	case CATALOG_SELECT:
		r = node_evaluate(self, node->left, ret);
		if (!r)
			values_select(node, &self->choices[node->what], ret);
		return r;
	default:
		return pair_evaluate(self, node, ret);
	}
}
