/*
 * Prints the tree of calls with its classes of ranks; a chain of calls is one line, broken where it
 * is long.  And on which nodes the ranks of a class are, and by which process numbers.
 */
#include "host/cli/fleet/dump_view.h"

#include "host/cli/fleet/fleet.h"
#include "host/core/text/foreign.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/threads/thread_state.h"

#include <string.h>

#define LINE_WIDTH    110u
#define RANKS_SHOWN   160u
#define CALL_NAME_MAX 160u
#define NODES_SHOWN   8u /* of one class */

const char *const class_titles[CLASS_THREADS] = {
	[CLASS_MAIN] = "main threads",
	[CLASS_OTHERS] = "other threads",
};

const char *class_label(const struct class_node *node, char ret[CLASS_LABEL_MAX])
{
	char ranks[CLASS_LABEL_MAX - 32];

	snprintf(ret, CLASS_LABEL_MAX, "%lu:[%s]", rank_set_size(&node->ranks),
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

/* Functions of a script are ambiguous without their file. */
const char *call_place(const struct call_paths *paths, uint32_t path, char ret[CALL_PLACE_MAX])
{
	const struct path_frame *call = call_path_frame(paths, path);

	ret[0] = '\0';
	if (call->line)
		print_into(ret, CALL_PLACE_MAX, " (%.120s:%u)", call_path_file(paths, path),
			   call->line);
	else if (call->kind == FRAME_SCRIPT)
		print_into(ret, CALL_PLACE_MAX, " (%.140s)", call_path_module(paths, path));
	return ret;
}

/* Without memory an entry is missing. */
static void part_add(struct node_part *part, uint32_t rank, pid_t pid)
{
	(void)!rank_set_add(&part->ranks, rank);
	if (pid > 0)
		(void)!rank_set_add(&part->pids, (uint32_t)pid);
}

bool class_part_next(const struct dump_view *view, const struct class_tree *tree,
		     const struct class_node *node, size_t *at, struct node_part *ret)
{
	const struct seen_thread *const *ends = tree->ends + node->first_end;
	uint32_t number;

	*ret = (struct node_part){ 0 };
	if (*at >= node->ends)
		return false;
	number = ends[*at]->node;
	ret->node = view->fleet->nodes[number].name;
	for (; *at < node->ends && ends[*at]->node == number; ++*at)
		part_add(ret, ends[*at]->rank, ends[*at]->process);
	return true;
}

enum halt halt_part_next(const struct dump_view *view, size_t *at, struct node_part *ret)
{
	const struct halted *items = view->halts.items, *first = &items[*at];

	*ret = (struct node_part){ 0 };
	if (*at >= view->halts.count)
		return HALT_NONE;
	ret->node = fleet_node_name(view->fleet, first->rank);
	for (; *at < view->halts.count && items[*at].halt == first->halt &&
	       items[*at].rank->node == first->rank->node;
	     ++*at)
		part_add(ret, items[*at].rank->number, items[*at].rank->pid);
	return first->halt;
}

void node_part_done(struct node_part *part)
{
	rank_set_done(&part->ranks);
	rank_set_done(&part->pids);
}

const char *node_part_label(const struct node_part *part, char ret[NODE_PART_MAX])
{
	char ranks[RANKS_SHOWN], pids[RANKS_SHOWN];
	uint64_t count = rank_set_size(&part->pids);

	print_into(ret, NODE_PART_MAX, "%s on %.100s",
		   rank_set_describe(&part->ranks, ranks, sizeof(ranks)), part->node);
	if (count)
		print_append(ret, NODE_PART_MAX, " (pid%s %s)", plural(count),
			     rank_set_describe(&part->pids, pids, sizeof(pids)));
	return ret;
}

void node_part_json(struct json *json, const char *key, const struct node_part *part)
{
	char text[4096];

	json_object(json, key);
	json_text(json, "node", part->node);
	json_text(json, "ranks", rank_set_describe(&part->ranks, text, sizeof(text)));
	json_text(json, "pids", rank_set_describe(&part->pids, text, sizeof(text)));
	json_object_end(json);
}

struct printed_line {
	FILE *out;
	unsigned indent;
	size_t column;
};

static void call_print(struct printed_line *line, const struct class_tree *tree, uint32_t path,
		       bool is_first)
{
	char text[CALL_NAME_MAX], place[CALL_PLACE_MAX];
	size_t length;

	foreign_copy(text, sizeof(text), call_path_function(tree->paths, path));
	length = strlen(text) + strlen(call_place(tree->paths, path, place)) + 3;
	if (!is_first && line->column + length > LINE_WIDTH) {
		print(line->out, "\n%*s", (int)line->indent + 4, "");
		line->column = line->indent + 4;
	}
	print(line->out, "%s%s%s", is_first ? "" : " > ", text, place);
	line->column += length;
}

static void node_print(FILE *out, const struct dump_view *view, const struct class_tree *tree,
		       uint32_t path, unsigned depth)
{
	struct printed_line line = { out, 2 * depth, 0 };
	int below = 2 * (int)depth + 4; /* the indent of its nodes */
	char label[CLASS_LABEL_MAX], wait[CLASS_WAIT_MAX], where[NODE_PART_MAX];
	uint32_t last = class_tree_chain(tree, path);
	const struct class_node *node = &tree->nodes[path], *end = &tree->nodes[last];
	size_t at = 0, shown = 0;
	struct node_part part;

	class_label(node, label);
	print(out, "%*s%s ", (int)line.indent, "", label);
	line.column = line.indent + strlen(label) + 1;
	if (node->threads != rank_set_size(&node->ranks))
		print(out, "(%lu threads) ", node->threads);
	for (uint32_t call = path;; call = tree->calls.nodes[call].first) {
		call_print(&line, tree, call, call == path);
		if (call == last)
			break;
	}
	class_wait(tree, end, wait);
	print(out, "%s%s%s\n", *wait ? "  (" : "", wait, *wait ? ")" : "");
	for (; shown < NODES_SHOWN && class_part_next(view, tree, end, &at, &part); shown++) {
		print(out, "%*s%s\n", below, "", node_part_label(&part, where));
		node_part_done(&part);
	}
	if (at < end->ends)
		print(out, "%*sand more on other nodes (--json)\n", below, "");
	for (uint32_t child = tree->calls.nodes[last].first; child != PATH_NONE;
	     child = tree->calls.nodes[child].next)
		node_print(out, view, tree, child, depth + 1);
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
			print(out, "  %-32s %lu:[%s]\n", motion_name((enum motion)i),
			      rank_set_size(set), rank_set_describe(set, ranks, sizeof(ranks)));
	}
}

void dump_view_text(const struct dump_view *view, FILE *out)
{
	char described[FLEET_DESCRIBED_MAX];

	print(out, "%s: %s\n", view->fleet->title, fleet_describe(view->fleet, described));
	for (unsigned i = 0; i < CLASS_THREADS; i++) {
		const struct class_tree *tree = &view->trees[i];

		if (class_tree_first(tree) != PATH_NONE)
			print(out, "\n%s:\n", class_titles[i]);
		for (uint32_t path = class_tree_first(tree); path != PATH_NONE;
		     path = tree->calls.nodes[path].next)
			node_print(out, view, tree, path, 0);
	}
	halts_print(out, view);
	motions_print(out, view);
}
