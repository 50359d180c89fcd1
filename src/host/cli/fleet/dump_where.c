/*
 * On which nodes the ranks of a class are, and by which process numbers.
 */
#include "host/cli/fleet/dump_view.h"

#include "host/cli/fleet/fleet.h"
#include "host/cli/printable.h"
#include "host/core/text/plural.h"

#define RANKS_SHOWN 160u

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
	char ranks[RANKS_SHOWN], pids[RANKS_SHOWN], node[NAME_MAX_SHOWN];
	uint64_t count = rank_set_size(&part->pids);

	snprintf(ret, NODE_PART_MAX, "%s on %.100s%s%s%s%s%s",
		 rank_set_describe(&part->ranks, ranks, sizeof(ranks)), printable(part->node, node),
		 count ? " (pid" : "", plural(count), count ? " " : "",
		 rank_set_describe(&part->pids, pids, sizeof(pids)), count ? ")" : "");
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
