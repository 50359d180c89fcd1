/*
 * The classes of a dump as objects: one for each innermost call, with the calls that lead to it.
 */
#include "host/cli/fleet/dump_view.h"

#include "host/core/text/json.h"
#include "host/core/threads/thread_state.h"

static void where_write(struct json *json, const struct dump_view *view,
			const struct class_tree *tree, const struct class_node *node)
{
	struct node_part part;

	json_list(json, "where");
	for (size_t at = 0; class_part_next(view, tree, node, &at, &part);) {
		node_part_json(json, NULL, &part);
		node_part_done(&part);
	}
	json_list_end(json);
}

/* The ranks in this very call; those further down are in its children. */
static void class_write(struct json *json, const struct dump_view *view, enum class_threads which,
			uint32_t path)
{
	const struct class_tree *tree = &view->trees[which];
	const struct class_node *node = &tree->nodes[path];
	const struct seen_thread *example = node->example;
	char ranks[4096];

	json_object(json, NULL);
	json_text(json, "event", "class");
	json_text(json, "threads", which == CLASS_MAIN ? "main" : "other");
	json_number(json, "ranks_below", rank_set_size(&node->ranks));
	json_text(json, "ranks", rank_set_describe(&node->ranks, ranks, sizeof(ranks)));
	json_number(json, "thread_count", node->ends);
	json_text(json, "state", node->is_mixed ? "" : thread_state_name(example->state));
	json_text(json, "call",
		  node->is_mixed ? "" : pool_text(&tree->paths->texts, example->call));
	where_write(json, view, tree, node);
	json_list(json, "frames");
	for (; path; path = tree->calls.nodes[path].parent) {
		json_object(json, NULL);
		json_text(json, "function", call_path_function(tree->paths, path));
		json_text(json, "module", call_path_module(tree->paths, path));
		json_text(json, "file", call_path_file(tree->paths, path));
		json_number(json, "line", call_path_frame(tree->paths, path)->line);
		json_object_end(json);
	}
	json_list_end(json);
	json_object_end(json);
}

static void halts_write(struct json *json, const struct dump_view *view)
{
	struct node_part part;
	enum halt halt;
	size_t at = 0;

	while ((halt = halt_part_next(view, &at, &part)) != HALT_NONE) {
		json_object(json, NULL);
		json_text(json, "event", "halted");
		json_text(json, "state", halt_name(halt));
		json_text(json, "cause", halt_cause(halt));
		node_part_json(json, "where", &part);
		json_object_end(json);
		node_part_done(&part);
	}
}

static void motions_write(struct json *json, const struct dump_view *view)
{
	char ranks[4096];

	for (unsigned i = 0; view->motions && i < MOTIONS; i++) {
		const struct rank_set *set = &view->motions->ranks[i];

		if (!set->count)
			continue;
		json_object(json, NULL);
		json_text(json, "event", "motion");
		json_text(json, "motion", motion_name((enum motion)i));
		json_number(json, "count", rank_set_size(set));
		json_text(json, "ranks", rank_set_describe(set, ranks, sizeof(ranks)));
		json_number(json, "dumps", view->dump->rounds);
		json_object_end(json);
	}
}

void dump_view_json(const struct dump_view *view, FILE *out)
{
	struct json json = { .out = out };

	for (unsigned i = 0; i < CLASS_THREADS; i++)
		for (uint32_t path = 1; path < view->trees[i].calls.count; path++)
			if (view->trees[i].nodes[path].ends)
				class_write(&json, view, (enum class_threads)i, path);
	halts_write(&json, view);
	motions_write(&json, view);
}
