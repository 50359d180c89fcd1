/*
 * What an expression comes to.  The operands of - and / stay where they stand, however many values
 * each of them has: AMD's own evaluation exchanges them when the left one has fewer.
 */
#include "host/counters/amd/expression.h"

#include <errno.h>
#include <stdlib.h>

struct evaluation {
	const struct expression *expression;
	values_finder *find;
	void *context;
};

static int values_make(size_t count, struct counter_values *ret)
{
	ret->items = calloc(count ? count : 1, sizeof(*ret->items));
	ret->count = ret->items ? count : 0;
	return ret->items ? 0 : -ENOMEM;
}

static double number_combine(enum expression_kind kind, double left, double right)
{
	switch (kind) {
	case EXPRESSION_ADD:
		return left + right;
	case EXPRESSION_SUBTRACT:
		return left - right;
	case EXPRESSION_MULTIPLY:
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

/* Place by place; one number goes with each of the other side. */
static int values_combine(enum expression_kind kind, const struct counter_values *left,
			  const struct counter_values *right, struct counter_values *ret)
{
	const struct counter_values *longer = left->count >= right->count ? left : right;

	if (left->count != right->count && left->count != 1 && right->count != 1)
		return -EINVAL;
	if (!left->count || !right->count)
		return values_make(0, ret);
	if (values_make(longer->count, ret))
		return -ENOMEM;
	for (size_t i = 0; i < longer->count; i++) {
		uint64_t place = longer->items[i].place;
		const struct counter_value *a = left->count == 1 ? left->items : &left->items[i];
		const struct counter_value *b =
			right->count == 1 ? right->items : value_at(right, place, i);

		if (!b)
			return -EINVAL;
		ret->items[i] =
			(struct counter_value){ place, number_combine(kind, a->value, b->value) };
	}
	return 0;
}

static double number_reduce(enum catalog_reduction reduction, double sum, double next)
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

static int by_place(const void *left, const void *right)
{
	const struct counter_value *a = left, *b = right;

	return a->place < b->place ? -1 : a->place > b->place;
}

static int values_reduce(const struct expression_node *node, struct counter_values *values)
{
	size_t count = 0, of = 0;

	for (size_t i = 0; i < values->count; i++)
		values->items[i].place = place_without(
			values->items[i].place, node->dimensions ? node->dimensions : UINT32_MAX);
	qsort(values->items, values->count, sizeof(*values->items), by_place);
	for (size_t i = 0; i < values->count; i++) {
		struct counter_value *into = count ? &values->items[count - 1] : NULL;

		if (!into || into->place != values->items[i].place) {
			if (into && node->reduction == CATALOG_AVERAGE)
				into->value /= (double)of;
			values->items[count++] = values->items[i];
			of = 1;
		} else {
			into->value =
				number_reduce(node->reduction, into->value, values->items[i].value);
			of++;
		}
	}
	if (count && node->reduction == CATALOG_AVERAGE)
		values->items[count - 1].value /= (double)of;
	values->count = count;
	return 0;
}

static bool place_is_chosen(const struct expression_node *node, uint64_t place)
{
	for (unsigned i = 0; i < DIMENSIONS; i++) {
		unsigned number = place_in(place, i);

		if (node->dimensions & 1u << i &&
		    (number >= 64 || !(node->chosen.numbers[i] >> number & 1)))
			return false;
	}
	return true;
}

static int values_select(const struct expression_node *node, struct counter_values *values)
{
	unsigned single = catalog_choice_single(&node->chosen, node->dimensions);
	size_t count = 0;

	for (size_t i = 0; i < values->count; i++) {
		struct counter_value value = values->items[i];

		if (!place_is_chosen(node, value.place))
			continue;
		value.place = place_without(value.place, single);
		values->items[count++] = value;
	}
	values->count = count;
	return 0;
}

static int node_evaluate(const struct evaluation *self, uint32_t index, struct counter_values *ret);

static int pair_evaluate(const struct evaluation *self, const struct expression_node *node,
			 struct counter_values *ret)
{
	struct counter_values left = { 0 }, right = { 0 };
	int r = node_evaluate(self, node->left, &left);

	if (!r)
		r = node_evaluate(self, node->right, &right);
	if (!r)
		r = values_combine(node->kind, &left, &right, ret);
	free(left.items);
	free(right.items);
	return r;
}

/* Nodes stand behind those that they are made of: this ends. */
static int node_evaluate(const struct evaluation *self, uint32_t index, struct counter_values *ret)
{
	const struct expression_node *node = &self->expression->nodes[index];
	int r;

	switch (node->kind) {
	case EXPRESSION_NUMBER:
		r = values_make(1, ret);
		if (!r)
			ret->items[0].value = node->number;
		return r;
	case EXPRESSION_NAME:
	case EXPRESSION_ACCUMULATE:
		return self->find(expression_name_text(node), node->accumulation, ret,
				  self->context);
	case EXPRESSION_REDUCE:
	case EXPRESSION_SELECT:
		r = node_evaluate(self, node->left, ret);
		if (r)
			return r;
		return node->kind == EXPRESSION_REDUCE ? values_reduce(node, ret)
						       : values_select(node, ret);
	default:
		return pair_evaluate(self, node, ret);
	}
}

int expression_evaluate(const struct expression *expression, values_finder *find, void *context,
			struct counter_values *ret)
{
	const struct evaluation self = { expression, find, context };
	int r;

	*ret = (struct counter_values){ 0 };
	r = expression->count ? node_evaluate(&self, expression->count - 1, ret) : -EINVAL;
	if (r) {
		free(ret->items);
		*ret = (struct counter_values){ 0 };
	}
	return r;
}

double counter_values_sum(const struct counter_values *values)
{
	double sum = 0;

	for (size_t i = 0; i < values->count; i++)
		sum += values->items[i].value;
	return sum;
}
