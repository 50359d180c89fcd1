/*
 * The tree of calls for programs and other readers: as objects, one for each innermost call with
 * the calls that lead to it; for Graphviz, an edge for each call with the ranks that made it; and
 * as a page, nested parts that open and close without a script.
 */
#include "host/cli/fleet/dump_view.h"

#include "host/cli/fleet/fleet.h"
#include "host/core/text/foreign.h"
#include "host/core/text/print.h"
#include "host/core/threads/thread_state.h"

/* The ranks in this very call; those further down are in its children. */
static void json_class(const struct dump_view *view, enum class_threads which, uint32_t path,
		       FILE *out)
{
	const struct class_tree *tree = &view->trees[which];
	const struct class_node *node = &tree->nodes[path];
	const struct seen_thread *example = node->example;
	struct json json = json_event(out, "class");
	struct node_part part;
	char ranks[4096];

	json_text(&json, "threads", which == CLASS_MAIN ? "main" : "other");
	json_number(&json, "ranks_below", rank_set_size(&node->ranks));
	json_text(&json, "ranks", rank_set_describe(&node->ranks, ranks, sizeof(ranks)));
	json_number(&json, "thread_count", node->ends);
	json_text(&json, "state", node->is_mixed ? "" : thread_state_name(example->state));
	json_text(&json, "call",
		  node->is_mixed ? "" : pool_text(&tree->paths->texts, example->call));
	json_list(&json, "where");
	for (size_t at = 0; class_part_next(view, tree, node, &at, &part);) {
		node_part_json(&json, NULL, &part);
		node_part_done(&part);
	}
	json_list_end(&json);
	json_list(&json, "frames");
	for (; path; path = tree->calls.nodes[path].parent) {
		json_object(&json, NULL);
		json_text(&json, "function", call_path_function(tree->paths, path));
		json_text(&json, "module", call_path_module(tree->paths, path));
		json_text(&json, "file", call_path_file(tree->paths, path));
		json_number(&json, "line", call_path_frame(tree->paths, path)->line);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_object_end(&json);
}

void dump_view_json(const struct dump_view *view, FILE *out)
{
	struct node_part part;
	struct json json;
	char ranks[4096];
	enum halt halt;
	size_t at = 0;

	for (unsigned i = 0; i < CLASS_THREADS; i++)
		for (uint32_t path = 1; path < view->trees[i].calls.count; path++)
			if (view->trees[i].nodes[path].ends)
				json_class(view, (enum class_threads)i, path, out);
	while ((halt = halt_part_next(view, &at, &part)) != HALT_NONE) {
		json = json_event(out, "halted");
		json_text(&json, "state", halt_name(halt));
		json_text(&json, "cause", halt_cause(halt));
		node_part_json(&json, "where", &part);
		json_object_end(&json);
		node_part_done(&part);
	}
	for (unsigned i = 0; view->motions && i < MOTIONS; i++) {
		const struct rank_set *set = &view->motions->ranks[i];

		if (!set->count)
			continue;
		json = json_event(out, "motion");
		json_text(&json, "motion", motion_name((enum motion)i));
		json_number(&json, "count", rank_set_size(set));
		json_text(&json, "ranks", rank_set_describe(set, ranks, sizeof(ranks)));
		json_number(&json, "dumps", view->dump->rounds);
		json_object_end(&json);
	}
}

/* For quotes: without those, and without control characters. */
static void dot_text(FILE *out, const char *text)
{
	char clean[256];

	foreign_copy(clean, sizeof(clean), text);
	for (char *at = clean; *at; at++)
		if (*at == '"' || *at == '\\')
			*at = '\'';
	print(out, "%s", clean);
}

static void dot_node(FILE *out, const struct class_tree *tree, unsigned which, uint32_t path)
{
	const struct class_node *node = &tree->nodes[path];
	uint32_t parent = tree->calls.nodes[path].parent;
	char label[CLASS_LABEL_MAX], place[CALL_PLACE_MAX];

	if (!node->threads)
		return;
	print(out, "\tn%u_%u [label=\"", which, path - 1);
	dot_text(out, call_path_function(tree->paths, path));
	dot_text(out, call_place(tree->paths, path, place));
	print(out, "\"%s];\n", node->ends ? ", style=bold" : "");
	if (!parent)
		print(out, "\troot%u -> n%u_%u", which, which, path - 1);
	else
		print(out, "\tn%u_%u -> n%u_%u", which, parent - 1, which, path - 1);
	print(out, " [label=\"%s\"];\n", class_label(node, label));
}

void dump_view_dot(const struct dump_view *view, FILE *out)
{
	char described[FLEET_DESCRIBED_MAX];

	print(out, "digraph fleet {\n\tlabel=\"");
	dot_text(out, view->fleet->title);
	print(out, ": %s\";\n\tnode [shape=box, fontname=\"monospace\"];\n",
	      fleet_describe(view->fleet, described));
	for (unsigned i = 0; i < CLASS_THREADS; i++) {
		const struct class_tree *tree = &view->trees[i];

		if (class_tree_first(tree) == PATH_NONE)
			continue;
		print(out, "\troot%u [label=\"%s\", shape=ellipse];\n", i, class_titles[i]);
		for (uint32_t path = 1; path < tree->calls.count; path++)
			dot_node(out, tree, i, path);
	}
	print(out, "}\n");
}

static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
	":root { color-scheme: light dark }\n"
	"body { font: 14px/1.5 system-ui, sans-serif; margin: 1.5em }\n"
	"code { font-family: ui-monospace, monospace }\n"
	"details { margin-left: 1.2em; border-left: 1px solid #8884; padding-left: .6em }\n"
	"summary { cursor: pointer }\n"
	".ranks { font-weight: 600; margin-right: .5em; white-space: nowrap }\n"
	".wait { opacity: .7 }\n"
	".odd > summary .ranks { background: #c60; color: #fff; border-radius: .3em; padding: 0 .3em }\n"
	"</style>\n";

static void html_write(FILE *out, const char *before, const char *foreign, const char *after)
{
	print_lines(out, before);
	foreign_write(out, FOREIGN_XML, foreign);
	print_lines(out, after);
}

/* A class is odd where most of its siblings' ranks are elsewhere. */
static void html_node(FILE *out, const struct dump_view *view, const struct class_tree *tree,
		      uint32_t path, uint64_t above)
{
	uint32_t last = class_tree_chain(tree, path);
	const struct class_node *node = &tree->nodes[path], *end = &tree->nodes[last];
	uint64_t ranks = rank_set_size(&node->ranks);
	char label[CLASS_LABEL_MAX], wait[CLASS_WAIT_MAX], place[CALL_PLACE_MAX];
	char where[NODE_PART_MAX];
	struct node_part part;

	print(out, "<details open%s><summary><span class=\"ranks\">%s</span>",
	      ranks * 4 <= above ? " class=\"odd\"" : "", class_label(node, label));
	for (uint32_t call = path;; call = tree->calls.nodes[call].first) {
		html_write(out, call == path ? "<code title=\"" : " &gt; <code title=\"",
			   call_path_module(tree->paths, call), "\">");
		html_write(out, "", call_path_function(tree->paths, call), "");
		html_write(out, "", call_place(tree->paths, call, place), "</code>");
		if (call == last)
			break;
	}
	if (*class_wait(tree, end, wait))
		html_write(out, " <span class=\"wait\">", wait, "</span>");
	print(out, "</summary>\n");
	for (size_t at = 0; class_part_next(view, tree, end, &at, &part);) {
		html_write(out, "<p class=\"wait\">", node_part_label(&part, where), "</p>\n");
		node_part_done(&part);
	}
	for (uint32_t child = tree->calls.nodes[last].first; child != PATH_NONE;
	     child = tree->calls.nodes[child].next)
		html_node(out, view, tree, child, ranks);
	print(out, "</details>\n");
}

static void html_motions(FILE *out, const struct dump_view *view)
{
	char ranks[CLASS_LABEL_MAX];

	print(out, "<h2>%u dumps in %.1f s, main threads</h2>\n<ul>\n", view->dump->rounds,
	      view->seconds);
	for (unsigned i = 0; i < MOTIONS; i++) {
		const struct rank_set *set = &view->motions->ranks[i];

		if (set->count)
			print(out, "<li>%s: <span class=\"ranks\">%lu:[%s]</span></li>\n",
			      motion_name((enum motion)i), rank_set_size(set),
			      rank_set_describe(set, ranks, sizeof(ranks)));
	}
	print(out, "</ul>\n");
}

void dump_view_html(const struct dump_view *view, FILE *out)
{
	char described[FLEET_DESCRIBED_MAX], label[NODE_PART_MAX];
	const struct fleet *fleet = view->fleet;
	struct node_part part;
	enum halt halt;
	size_t at = 0;

	print_lines(out, head);
	html_write(out, "<title>", fleet->title, "</title>\n</head>\n<body>\n");
	html_write(out, "<h1>", fleet->title, "</h1>\n");
	print(out, "<p>%s</p>\n", fleet_describe(fleet, described));
	for (size_t i = 0; i < fleet->rank_count; i++) {
		const struct fleet_rank *rank = &fleet->ranks[i];

		if (rank->state == RANK_DONE)
			continue;
		print(out, "<p>rank %u: %s: ", rank->number, rank_state_name(rank->state));
		html_write(out, "", rank->reason, "</p>\n");
	}
	for (unsigned i = 0; i < CLASS_THREADS; i++) {
		const struct class_tree *tree = &view->trees[i];

		if (class_tree_first(tree) != PATH_NONE)
			print(out, "<h2>%s</h2>\n", class_titles[i]);
		for (uint32_t path = class_tree_first(tree); path != PATH_NONE;
		     path = tree->calls.nodes[path].next)
			html_node(out, view, tree, path, 0);
	}
	while ((halt = halt_part_next(view, &at, &part)) != HALT_NONE) {
		print(out, "<p>%s: ", halt_name(halt));
		html_write(out, "", node_part_label(&part, label), "");
		print(out, ": %s</p>\n", halt_cause(halt));
		node_part_done(&part);
	}
	if (view->motions)
		html_motions(out, view);
	print(out, "</body>\n</html>\n");
}
