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

#define LINE_WIDTH  110u
#define NODES_SHOWN 8u /* of one class */

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

/* Functions of a script are ambiguous without their file. */
const char *call_place(const struct call_paths *paths, uint32_t path, char ret[CALL_PLACE_MAX])
{
	const struct path_frame *call = call_path_frame(paths, path);
	char file[NAME_MAX_SHOWN];

	ret[0] = '\0';
	if (call->line)
		snprintf(ret, CALL_PLACE_MAX, " (%.120s:%u)",
			 printable(call_path_file(paths, path), file), call->line);
	else if (call->kind == FRAME_SCRIPT)
		snprintf(ret, CALL_PLACE_MAX, " (%.140s)",
			 printable(call_path_module(paths, path), file));
	return ret;
}

struct printed_line {
	FILE *out;
	unsigned indent;
	size_t column;
};

static void call_print(struct printed_line *line, const struct class_tree *tree, uint32_t path,
		       bool is_first)
{
	char text[NAME_MAX_SHOWN], place[CALL_PLACE_MAX];
	size_t length;

	printable(call_path_function(tree->paths, path), text);
	length = strlen(text) + strlen(call_place(tree->paths, path, place)) + 3;
	if (!is_first && line->column + length > LINE_WIDTH) {
		print(line->out, "\n%*s", (int)line->indent + 4, "");
		line->column = line->indent + 4;
	}
	print(line->out, "%s%s%s", is_first ? "" : " > ", text, place);
	line->column += length;
}

/* The calls from the first of a chain to its last. */
static void chain_print(struct printed_line *line, const struct class_tree *tree, uint32_t first,
			uint32_t last)
{
	for (uint32_t path = first;; path = tree->calls.nodes[path].first) {
		call_print(line, tree, path, path == first);
		if (path == last)
			break;
	}
}

static void where_print(FILE *out, const struct dump_view *view, const struct class_tree *tree,
			const struct class_node *node, unsigned indent)
{
	struct node_part part;
	char label[NODE_PART_MAX];
	size_t at = 0, shown = 0;

	while (shown < NODES_SHOWN && class_part_next(view, tree, node, &at, &part)) {
		print(out, "%*s%s\n", (int)indent, "", node_part_label(&part, label));
		node_part_done(&part);
		shown++;
	}
	if (at < node->ends)
		print(out, "%*sand more on other nodes (--json)\n", (int)indent, "");
}

static void node_print(FILE *out, const struct dump_view *view, const struct class_tree *tree,
		       uint32_t path, unsigned depth)
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
	where_print(out, view, tree, &tree->nodes[last], line.indent + 4);
	for (uint32_t child = tree->calls.nodes[last].first; child != PATH_NONE;
	     child = tree->calls.nodes[child].next)
		node_print(out, view, tree, child, depth + 1);
}

static void tree_print(FILE *out, const struct dump_view *view, enum class_threads which)
{
	const struct class_tree *tree = &view->trees[which];

	if (class_tree_first(tree) == PATH_NONE)
		return;
	print(out, "\n%s:\n", class_titles[which]);
	for (uint32_t path = class_tree_first(tree); path != PATH_NONE;
	     path = tree->calls.nodes[path].next)
		node_print(out, view, tree, path, 0);
}

/* Below the classes, because a rank that cannot run is in one of them, or has no stack. */
static void halts_print(FILE *out, const struct dump_view *view)
{
	struct node_part part;
	char label[NODE_PART_MAX];
	enum halt halt;
	size_t at = 0;

	if (view->halts.count)
		print(out, "\nranks that cannot run:\n");
	while ((halt = halt_part_next(view, &at, &part)) != HALT_NONE) {
		print(out, "  %-8s %s: %s\n", halt_name(halt), node_part_label(&part, label),
		      halt_cause(halt));
		node_part_done(&part);
	}
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
			print(out, "  %-32s %" PRIu64 ":[%s]\n", motion_name((enum motion)i),
			      rank_set_size(set), rank_set_describe(set, ranks, sizeof(ranks)));
	}
}

void dump_view_text(const struct dump_view *view, FILE *out)
{
	char label[CLASS_LABEL_MAX];

	print(out, "%s: %s\n", view->fleet->title, fleet_describe(view->fleet, label));
	for (unsigned i = 0; i < CLASS_THREADS; i++)
		tree_print(out, view, (enum class_threads)i);
	halts_print(out, view);
	motions_print(out, view);
}
