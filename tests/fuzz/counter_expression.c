/*
 * Fuzzes expressions of counters: from definitions on the host, and from tools in the target.
 */
#include "fuzz.h"

#include <string.h>

#include "shared/counters/expression.h"

static struct expression expression;

static bool has_name(const struct expression_node *node)
{
	return node->kind == EXPRESSION_NAME || node->kind == EXPRESSION_ACCUMULATE;
}

static void must_be_sound(uint32_t index, const char *text, size_t size)
{
	const struct expression_node *node = &expression.nodes[index];
	const struct catalog_node made = expression_catalog_node(node);

	must(made.kind < CATALOG_NODE_KINDS && made.dimensions < 1u << CATALOG_DIMENSIONS);
	must(node->kind < EXPRESSION_ADD || node->left < index);
	must(node->kind < EXPRESSION_ADD || node->kind > EXPRESSION_DIVIDE || node->right < index);
	must(node->kind != EXPRESSION_REDUCE || node->reduction < CATALOG_REDUCTIONS);
	must(__builtin_isfinite(node->number) && node->number >= 0);
	if (has_name(node))
		must(node->name.length && node->name.at >= text &&
		     node->name.at + node->name.length <= text + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + !size); /* of its exact size */
	struct expression_fault fault = { 0, NULL };

	must(text != NULL);
	memcpy(text, bytes, size);
	if (expression_parse(&expression, text, size, &fault)) {
		must(expression.count && expression.count <= EXPRESSION_NODES_MAX);
		for (uint32_t i = 0; i < expression.count; i++)
			must_be_sound(i, text, size);
	} else {
		must(fault.why && fault.at <= size);
	}
	free(text);
	return 0;
}
