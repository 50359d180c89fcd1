/*
 * Parses and evaluates expressions of counters on the host: the values of all names are found
 * first; shared/counters computes.
 */
#include "host/counters/amd/expression.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int expression_read(struct expression *ret, const char *text, struct err *err)
{
	struct expression_fault fault;

	if (expression_parse(ret, text, strlen(text), &fault))
		return 0;
	err_usage(err, NULL, "expression '%.120s' is not understood", text);
	return err_why(err, "at character %zu: %s", fault.at + 1, fault.why);
}

enum growth { GROWTH_NONE, GROWTH_ADDS, GROWTH_OTHER };

static enum growth node_growth(const struct expression_node *node, const enum growth *of,
			       bool is_counted)
{
	enum growth left = of[node->left], right = of[node->right];

	switch (node->kind) {
	case EXPRESSION_NUMBER:
		return GROWTH_NONE;
	case EXPRESSION_NAME:
	case EXPRESSION_ACCUMULATE:
		return is_counted ? GROWTH_ADDS : GROWTH_NONE;
	case EXPRESSION_ADD:
	case EXPRESSION_SUBTRACT:
		return left == right ? left : GROWTH_OTHER;
	case EXPRESSION_MULTIPLY:
		return left == GROWTH_NONE ? right : right == GROWTH_NONE ? left : GROWTH_OTHER;
	case EXPRESSION_DIVIDE:
		return right == GROWTH_NONE ? left : GROWTH_OTHER;
	default:
		return left;
	}
}

bool expression_adds_up(const struct expression *expression, name_judge *is_counted,
			const void *context)
{
	enum growth growth[EXPRESSION_NODES_MAX];

	for (uint32_t i = 0; i < expression->count; i++) {
		const struct expression_node *node = &expression->nodes[i];
		bool is_name = node->kind == EXPRESSION_NAME || node->kind == EXPRESSION_ACCUMULATE;

		growth[i] = node_growth(node, growth,
					is_name && is_counted(expression_name_text(node), context));
	}
	return expression->count && growth[expression->count - 1] == GROWTH_ADDS;
}

/* An expression prepared for evaluation: the `what` of names and choices is the node's index. */
struct prepared_nodes {
	struct catalog_node nodes[EXPRESSION_NODES_MAX];
	struct catalog_choice choices[EXPRESSION_NODES_MAX];
	struct counter_values values[EXPRESSION_NODES_MAX]; /* of names */
	size_t longest;
};

static int name_values(struct evaluation *self, const struct catalog_node *node,
		       struct counter_values *ret)
{
	const struct prepared_nodes *prepared = self->context;
	const struct counter_values *values = &prepared->values[node->what];

	if (values_make(self, values->count, ret))
		return -ENOSPC;
	for (size_t i = 0; i < values->count; i++)
		ret->items[i] = values->items[i];
	return 0;
}

static int nodes_prepare(struct prepared_nodes *self, const struct expression *expression,
			 values_finder *find, void *context)
{
	self->longest = 1;
	for (uint32_t i = 0; i < expression->count; i++) {
		const struct expression_node *from = &expression->nodes[i];
		struct catalog_node *node = &self->nodes[i];

		*node = expression_catalog_node(from);
		node->left = from->left;
		node->right = from->right;
		self->choices[i] = from->chosen;
		if (node->kind != CATALOG_REDUCE)
			node->what = i;
		if (node->kind == CATALOG_EVENT) {
			int r = find(expression_name_text(from), from->accumulation,
				     &self->values[i], context);

			if (r)
				return r;
			self->longest = MAX(self->longest, self->values[i].count);
		}
	}
	return 0;
}

/* No node has more values than the longest name: the result's memory is enough for all of them. */
static int prepared_evaluate(struct prepared_nodes *self, uint32_t count,
			     struct counter_values *ret)
{
	struct evaluation evaluation = { .nodes = self->nodes,
					 .choices = self->choices,
					 .find = name_values,
					 .context = self,
					 .room = count * self->longest };
	struct counter_values values;
	int r;

	evaluation.memory = calloc(evaluation.room, sizeof(*evaluation.memory));
	if (!evaluation.memory)
		return -ENOMEM;
	r = node_evaluate(&evaluation, count - 1, &values);
	if (r) {
		free(evaluation.memory);
		return r;
	}
	for (size_t i = 0; i < values.count; i++)
		evaluation.memory[i] = values.items[i];
	*ret = (struct counter_values){ evaluation.memory, values.count };
	return 0;
}

int expression_evaluate(const struct expression *expression, values_finder *find, void *context,
			struct counter_values *ret)
{
	struct prepared_nodes *prepared;
	int r;

	*ret = (struct counter_values){ 0 };
	if (!expression->count)
		return -EINVAL;
	prepared = calloc(1, sizeof(*prepared));
	if (!prepared)
		return -ENOMEM;
	r = nodes_prepare(prepared, expression, find, context);
	if (!r)
		r = prepared_evaluate(prepared, expression->count, ret);
	for (uint32_t i = 0; i < expression->count; i++)
		free(prepared->values[i].items);
	free(prepared);
	return r;
}

double counter_values_sum(const struct counter_values *values)
{
	double sum = 0;

	for (size_t i = 0; i < values->count; i++)
		sum += values->items[i].value;
	return sum;
}
