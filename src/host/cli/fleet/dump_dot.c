/*
 * The tree of calls for Graphviz: an edge for each call, with the ranks that made it.
 */
#include "host/cli/fleet/dump_view.h"

#include "host/core/text/foreign.h"
#include "host/core/text/print.h"

#include <string.h>

/* For quotes: without those, and without control characters. */
static void text_write(FILE *out, const char *text)
{
	char clean[256];

	foreign_copy(clean, sizeof(clean), text);
	for (char *at = clean; *at; at++)
		if (*at == '"' || *at == '\\')
			*at = '\'';
	print(out, "%s", clean);
}

static void node_write(FILE *out, const struct class_tree *tree, unsigned which, uint32_t path)
{
	const struct class_node *node = &tree->nodes[path];
	uint32_t parent = tree->calls.nodes[path].parent;
	char label[CLASS_LABEL_MAX], place[CALL_PLACE_MAX];

	if (!node->threads)
		return;
	print(out, "\tn%u_%u [label=\"", which, path - 1);
	text_write(out, call_path_function(tree->paths, path));
	text_write(out, call_place(tree->paths, path, place));
	print(out, "\"%s];\n", node->ends ? ", style=bold" : "");
	if (!parent)
		print(out, "\troot%u -> n%u_%u", which, which, path - 1);
	else
		print(out, "\tn%u_%u -> n%u_%u", which, parent - 1, which, path - 1);
	print(out, " [label=\"%s\"];\n", class_label(node, label));
}

void dump_view_dot(const struct dump_view *view, FILE *out)
{
	char label[CLASS_LABEL_MAX];

	print(out, "digraph fleet {\n\tlabel=\"");
	text_write(out, view->fleet->title);
	print(out, ": %s\";\n\tnode [shape=box, fontname=\"monospace\"];\n",
	      fleet_describe(view->fleet, label));
	for (unsigned i = 0; i < CLASS_THREADS; i++) {
		const struct class_tree *tree = &view->trees[i];

		if (class_tree_first(tree) == PATH_NONE)
			continue;
		print(out, "\troot%u [label=\"%s\", shape=ellipse];\n", i, class_titles[i]);
		for (uint32_t path = 1; path < tree->calls.count; path++)
			node_write(out, tree, i, path);
	}
	print(out, "}\n");
}
