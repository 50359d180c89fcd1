/*
 * Parses and evaluates expressions of counters.
 */
#include "host/counters/amd/expression.h"

#include <errno.h>
#include <string.h>

int expression_read(struct expression *ret, const char *text, struct err *err)
{
	struct expression_fault fault;

	if (expression_parse(ret, text, strlen(text), &fault))
		return 0;
	err_set(err, -EINVAL, "expression '%.120s' is not understood", text);
	err_why(err, "at character %zu: %s", fault.at + 1, fault.why);
	return err_exit(err, EXIT_USAGE);
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
