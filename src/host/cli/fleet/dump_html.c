/*
 * The tree of calls as a page: nested parts that open and close, without a script.
 */
#include "host/cli/fleet/dump_view.h"

#include "host/core/text/foreign.h"
#include "host/core/text/print.h"

#include <inttypes.h>

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

static void chain_write(FILE *out, const struct class_tree *tree, uint32_t first, uint32_t last)
{
	char place[CALL_PLACE_MAX];

	for (uint32_t path = first;; path = tree->calls.nodes[path].first) {
		print(out, "%s<code title=\"", path == first ? "" : " &gt; ");
		foreign_write(out, FOREIGN_XML, call_path_module(tree->paths, path));
		print(out, "\">");
		foreign_write(out, FOREIGN_XML, call_path_function(tree->paths, path));
		foreign_write(out, FOREIGN_XML, call_place(tree->paths, path, place));
		print(out, "</code>");
		if (path == last)
			return;
	}
}

static void where_write(FILE *out, const struct dump_view *view, const struct class_tree *tree,
			const struct class_node *node)
{
	struct node_part part;
	char label[NODE_PART_MAX];

	for (size_t at = 0; class_part_next(view, tree, node, &at, &part);) {
		print(out, "<p class=\"wait\">");
		foreign_write(out, FOREIGN_XML, node_part_label(&part, label));
		print(out, "</p>\n");
		node_part_done(&part);
	}
}

/* A class is odd where most of its siblings' ranks are elsewhere. */
static void node_write(FILE *out, const struct dump_view *view, const struct class_tree *tree,
		       uint32_t path, uint64_t above)
{
	uint32_t last = class_tree_chain(tree, path);
	const struct class_node *node = &tree->nodes[path];
	uint64_t ranks = rank_set_size(&node->ranks);
	char label[CLASS_LABEL_MAX], wait[CLASS_WAIT_MAX];

	print(out, "<details open%s><summary><span class=\"ranks\">%s</span>",
	      ranks * 4 <= above ? " class=\"odd\"" : "", class_label(node, label));
	chain_write(out, tree, path, last);
	class_wait(tree, &tree->nodes[last], wait);
	if (*wait) {
		print(out, " <span class=\"wait\">");
		foreign_write(out, FOREIGN_XML, wait);
		print(out, "</span>");
	}
	print(out, "</summary>\n");
	where_write(out, view, tree, &tree->nodes[last]);
	for (uint32_t child = tree->calls.nodes[last].first; child != PATH_NONE;
	     child = tree->calls.nodes[child].next)
		node_write(out, view, tree, child, ranks);
	print(out, "</details>\n");
}

static void motions_write(FILE *out, const struct dump_view *view)
{
	char ranks[CLASS_LABEL_MAX];

	if (!view->motions)
		return;
	print(out, "<h2>%u dumps in %.1f s, main threads</h2>\n<ul>\n", view->dump->rounds,
	      view->seconds);
	for (unsigned i = 0; i < MOTIONS; i++) {
		const struct rank_set *set = &view->motions->ranks[i];

		if (set->count)
			print(out, "<li>%s: <span class=\"ranks\">%" PRIu64 ":[%s]</span></li>\n",
			      motion_name((enum motion)i), rank_set_size(set),
			      rank_set_describe(set, ranks, sizeof(ranks)));
	}
	print(out, "</ul>\n");
}

static void halts_write(FILE *out, const struct dump_view *view)
{
	struct node_part part;
	char label[NODE_PART_MAX];
	enum halt halt;
	size_t at = 0;

	while ((halt = halt_part_next(view, &at, &part)) != HALT_NONE) {
		print(out, "<p>%s: ", halt_name(halt));
		foreign_write(out, FOREIGN_XML, node_part_label(&part, label));
		print(out, ": %s</p>\n", halt_cause(halt));
		node_part_done(&part);
	}
}

static void failures_write(FILE *out, const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->rank_count; i++) {
		const struct fleet_rank *rank = &fleet->ranks[i];

		if (rank->state == RANK_DONE)
			continue;
		print(out, "<p>rank %u: %s: ", rank->number, rank_state_name(rank->state));
		foreign_write(out, FOREIGN_XML, rank->reason);
		print(out, "</p>\n");
	}
}

void dump_view_html(const struct dump_view *view, FILE *out)
{
	char label[CLASS_LABEL_MAX];

	print_lines(out, head);
	print(out, "<title>");
	foreign_write(out, FOREIGN_XML, view->fleet->title);
	print(out, "</title>\n</head>\n<body>\n<h1>");
	foreign_write(out, FOREIGN_XML, view->fleet->title);
	print(out, "</h1>\n<p>%s</p>\n", fleet_describe(view->fleet, label));
	failures_write(out, view->fleet);
	for (unsigned i = 0; i < CLASS_THREADS; i++) {
		const struct class_tree *tree = &view->trees[i];

		if (class_tree_first(tree) != PATH_NONE)
			print(out, "<h2>%s</h2>\n", class_titles[i]);
		for (uint32_t path = class_tree_first(tree); path != PATH_NONE;
		     path = tree->calls.nodes[path].next)
			node_write(out, view, tree, path, 0);
	}
	halts_write(out, view);
	motions_write(out, view);
	print(out, "</body>\n</html>\n");
}
