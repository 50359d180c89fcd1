/*
 * Lays call trees upon each other.
 */
#include "host/model/diff/diff_tree.h"

#include <errno.h>
#include <stdlib.h>

static int add_side(struct call_tree *tree, const struct compared_side *side, enum side number,
		    const struct profile *profile, uint32_t **of_entry)
{
	const struct tree_source source = { .model = side->model,
					    .functions = side->functions,
					    .side = number };

	if (!of_entry)
		return call_tree_add(tree, &source, profile, NULL);
	*of_entry = calloc(profile->count + 1, sizeof(**of_entry));
	return *of_entry ? call_tree_add(tree, &source, profile, *of_entry) : -ENOMEM;
}

int diff_tree_build(struct call_tree *ret, const struct comparison *comparison,
		    const struct profile *const profiles[SIDES], uint32_t *of_entry[SIDES])
{
	int r = call_tree_init(ret, SIDES);

	for (unsigned i = 0; !r && i < SIDES; i++)
		r = add_side(ret, &comparison->sides[i], i, profiles[i],
			     of_entry ? &of_entry[i] : NULL);
	return r ? r : call_tree_finish(ret, /* least */ 0);
}

const char *diff_tree_name(const struct comparison *comparison, const struct tree_node *node)
{
	if (node->kind == TREE_FUNCTION)
		return comparison->functions[node->value].name;
	return node->kind == TREE_ALL ? "all" : "[incomplete stack]";
}
