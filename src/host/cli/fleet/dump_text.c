/*
 * Prints the tree of calls with its classes of ranks; a chain of calls is one line, broken where it
 * is long.
 */
#include "host/cli/fleet/dump_view.h"

#include "host/cli/printable.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/threads/thread_state.h"

#include <inttypes.h>
#include <string.h>

#define LINE_WIDTH 110u

const char *const class_titles[CLASS_THREADS] = {
	[CLASS_MAIN] = "main threads",
	[CLASS_OTHERS] = "other threads",
};

const char *class_label(const struct class_node *node, char ret[CLASS_LABEL_MAX])
{
	char ranks[CLASS_LABEL_MAX - 32];

	snprintf(ret, CLASS_LABEL_MAX, "%" PRIu64 ":[%s]", rank_set_size(&node->ranks),
		 rank_set_describe(&node->ranks, ranks, sizeof(ranks)));
	return ret;
}

const char *class_wait(const struct class_tree *tree, const struct class_node *node,
		       char ret[CLASS_WAIT_MAX])
{
	const char *call;

	ret[0] = '\0';
	if (!node->ends || node->is_mixed)
		return ret;
	call = pool_text(&tree->paths->texts, node->example->call);
	snprintf(ret, CLASS_WAIT_MAX, "%s%s%s", thread_state_name(node->example->state),
		 *call ? " in " : "", call);
	return ret;
}

const char *fleet_describe(const struct fleet *fleet, char ret[CLASS_LABEL_MAX])
{
	snprintf(ret, CLASS_LABEL_MAX, "%zu rank%s on %zu node%s", fleet->rank_count,
		 plural(fleet->rank_count), fleet->node_count, plural(fleet->node_count));
	return ret;
}

/* Of a language whose functions say little without their file. */
static bool is_script(const char *module)
{
	const char *dot = strrchr(module, '.');

	return dot && (!strcmp(dot, ".py") || !strcmp(dot, ".rb") || !strcmp(dot, ".lua") ||
		       !strcmp(dot, ".pl") || !strcmp(dot, ".php"));
}

struct printed_line {
	FILE *out;
	unsigned indent;
	size_t column;
};

static void call_print(struct printed_line *line, const struct class_tree *tree, uint32_t path,
		       bool is_first)
{
	const char *module = call_path_module(tree->paths, path);
	char text[NAME_MAX_SHOWN], file[NAME_MAX_SHOWN];
	size_t length;

	printable(call_path_function(tree->paths, path), text);
	printable(is_script(module) ? module : "", file);
	length = strlen(text) + (*file ? strlen(file) + 3 : 0) + 3;
	if (!is_first && line->column + length > LINE_WIDTH) {
		print(line->out, "\n%*s", (int)line->indent + 4, "");
		line->column = line->indent + 4;
	}
	print(line->out, "%s%s%s%s%s", is_first ? "" : " > ", text, *file ? " (" : "", file,
	      *file ? ")" : "");
	line->column += length;
}

/* The calls from the first of a chain to its last. */
static void chain_print(struct printed_line *line, const struct class_tree *tree, uint32_t first,
			uint32_t last)
{
	for (uint32_t path = first;; path = tree->nodes[path].first) {
		call_print(line, tree, path, path == first);
		if (path == last)
			break;
	}
}

static void node_print(FILE *out, const struct class_tree *tree, uint32_t path, unsigned depth)
{
	struct printed_line line = { out, 2 * depth, 0 };
	char label[CLASS_LABEL_MAX], wait[CLASS_WAIT_MAX];
	uint32_t last = class_tree_chain(tree, path);
	const struct class_node *node = &tree->nodes[path];
	uint64_t ranks = rank_set_size(&node->ranks);

	class_label(node, label);
	print(out, "%*s%s ", (int)line.indent, "", label);
	line.column = line.indent + strlen(label) + 1;
	if (node->threads != ranks)
		print(out, "(%" PRIu64 " threads) ", node->threads);
	chain_print(&line, tree, path, last);
	class_wait(tree, &tree->nodes[last], wait);
	print(out, "%s%s%s\n", *wait ? "  (" : "", wait, *wait ? ")" : "");
	for (uint32_t child = tree->nodes[last].first; child != PATH_NONE;
	     child = tree->nodes[child].next)
		node_print(out, tree, child, depth + 1);
}

static void tree_print(FILE *out, const struct dump_view *view, enum class_threads which)
{
	const struct class_tree *tree = &view->trees[which];

	if (tree->first == PATH_NONE)
		return;
	print(out, "\n%s:\n", class_titles[which]);
	for (uint32_t path = tree->first; path != PATH_NONE; path = tree->nodes[path].next)
		node_print(out, tree, path, 0);
}

static void motions_print(FILE *out, const struct dump_view *view)
{
	char ranks[CLASS_LABEL_MAX];

	if (!view->motions)
		return;
	print(out, "\n%u dumps in %.1f s, main threads:\n", view->dump->rounds, view->seconds);
	for (unsigned i = 0; i < MOTIONS; i++) {
		const struct rank_set *set = &view->motions->ranks[i];

		if (set->count)
			print(out, "  %-24s %" PRIu64 ":[%s]\n", motion_name((enum motion)i),
			      rank_set_size(set), rank_set_describe(set, ranks, sizeof(ranks)));
	}
}

void dump_view_text(const struct dump_view *view, FILE *out)
{
	char label[CLASS_LABEL_MAX];

	print(out, "%s: %s\n", view->fleet->title, fleet_describe(view->fleet, label));
	for (unsigned i = 0; i < CLASS_THREADS; i++)
		tree_print(out, view, (enum class_threads)i);
	motions_print(out, view);
}
