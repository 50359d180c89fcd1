/*
 * Keeps the latest message of each node, and adds them up.
 */
#include "host/fleet/top/fleet_top.h"

#include "host/core/clock.h"
#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ull
#define STALE_NS  (5 * SECOND_NS) /* a silent node is no longer shown after that */

/* All items that it announces can be read. */
static bool message_is_sound(struct cursor cursor)
{
	struct top_message top;
	struct top_rank rank;
	struct top_function function;
	bool is_sound = (size_t)(cursor.end - cursor.at) <= TOP_BYTES_MAX &&
			top_message_take(&cursor, &top);

	for (uint32_t i = 0; is_sound && i < top.rank_count; i++)
		is_sound = top_message_take_rank(&top, &rank);
	for (uint32_t i = 0; is_sound && i < top.function_count; i++)
		is_sound = top_message_take_function(&top, &function);
	return is_sound;
}

int fleet_top_take(struct fleet_top *self, uint32_t node, uint32_t kind, struct cursor *cursor)
{
	struct node_picture *picture;

	if (kind != MESSAGE_TOP || !message_is_sound(*cursor))
		return 0;
	while (self->count <= node) {
		if (make_room(&self->nodes, self->count, &self->room, sizeof(*self->nodes)))
			return -ENOMEM;
		self->nodes[self->count++] = (struct node_picture){ 0 };
	}
	picture = &self->nodes[node];
	picture->message.size = 0;
	picture->heard_ns = now_ns();
	bytes_put(&picture->message, cursor->at, (size_t)(cursor->end - cursor->at));
	return picture->message.has_failed ? -ENOMEM : 0;
}

void fleet_top_done(struct fleet_top *self)
{
	for (size_t i = 0; i < self->count; i++)
		bytes_done(&self->nodes[i].message);
	free(self->nodes);
	*self = (struct fleet_top){ 0 };
}

/* Per second of the window; nodes may send any numbers. */
static uint64_t per_second(uint64_t time_ns, const struct top_message *top)
{
	return (uint64_t)MIN((double)time_ns * (double)SECOND_NS / (double)MAX(top->window_ns, 1u),
			     1e15);
}

/* The index of a rank that its node refers to; SIZE_MAX: unknown. */
static size_t rank_index(const struct fleet *fleet, uint32_t node, uint32_t pid)
{
	const struct fleet_rank *rank =
		pid <= INT32_MAX ? fleet_find_rank(fleet, node, (pid_t)pid) : NULL;

	return rank ? (size_t)(rank - fleet->ranks) : SIZE_MAX;
}

static int ranks_merge(struct top_view *view, struct top_message *top, const struct fleet *fleet,
		       uint32_t node)
{
	struct top_view_rank *longer =
		reallocarray(view->ranks, view->rank_count + top->rank_count + 1, sizeof(*longer));
	struct top_rank rank;

	if (!longer)
		return -ENOMEM;
	view->ranks = longer;
	for (uint32_t i = 0; i < top->rank_count && top_message_take_rank(top, &rank); i++) {
		size_t index = rank_index(fleet, node, rank.pid);

		if (index != SIZE_MAX)
			view->ranks[view->rank_count++] =
				(struct top_view_rank){ index, per_second(rank.running_ns, top),
							rank.function };
	}
	return 0;
}

static int functions_merge(struct top_view *view, struct top_message *top,
			   const struct fleet *fleet, uint32_t node)
{
	struct top_function function;
	int r = 0;

	for (uint32_t i = 0;
	     !r && i < top->function_count && top_message_take_function(top, &function); i++) {
		size_t most = rank_index(fleet, node, function.most_pid);
		size_t least = rank_index(fleet, node, function.least_pid);
		const struct spread part = { .ranks = MIN(function.ranks, top->rank_count),
					     .most_rank = (uint32_t)most,
					     .least_rank = (uint32_t)least,
					     .sum_ns = per_second(function.sum_ns, top),
					     .most_ns = per_second(function.most_ns, top),
					     .least_ns = per_second(function.least_ns, top),
					     .total_ns = per_second(function.total_ns, top),
					     .count = function.count };

		if (most != SIZE_MAX && least != SIZE_MAX)
			r = spreads_merge(&view->functions, function.name, function.module, &part);
	}
	return r;
}

static void cost_merge(struct top_view *view, const struct top_message *top, uint32_t node)
{
	double share = top->own_for_ns ? (double)top->own_ns / (double)top->own_for_ns : 0;

	if (!top->own_for_ns || (view->costly_node != NODE_NONE && share <= view->own_share))
		return;
	view->own_share = share;
	view->costly_node = node;
}

static int node_merge(struct top_view *view, const struct node_picture *picture,
		      const struct fleet *fleet, uint32_t node)
{
	const struct bytes *bytes = &picture->message;
	struct cursor cursor = { bytes->data, bytes->data + bytes->size, false };
	struct top_message top;
	int r;

	if (!top_message_take(&cursor, &top))
		return 0;
	view->is_heard[node] = true;
	view->heard_count++;
	view->samples += top.samples;
	view->lost += top.lost;
	view->window_ns = MAX(view->window_ns, MIN(top.window_ns, TOP_WINDOW_NS));
	view->other_ns += per_second(top.other_ns, &top);
	view->least_hz = view->least_hz ? MIN(view->least_hz, top.hz) : top.hz;
	cost_merge(view, &top, node);
	r = ranks_merge(view, &top, fleet, node);
	return r ? r : functions_merge(view, &top, fleet, node);
}

static int compare_ranks(const void *a, const void *b)
{
	const struct top_view_rank *left = a, *right = b;

	if (left->running_ns != right->running_ns)
		return left->running_ns < right->running_ns ? 1 : -1;
	return (left->rank > right->rank) - (left->rank < right->rank);
}

static int compare_indexes(const void *a, const void *b)
{
	const struct top_view_rank *left = a, *right = b;

	return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Each once, whatever a node sends. */
static void ranks_sort(struct top_view *view)
{
	size_t count = 0;

	if (!view->rank_count)
		return;
	qsort(view->ranks, view->rank_count, sizeof(*view->ranks), compare_indexes);
	for (size_t i = 0; i < view->rank_count; i++)
		if (!count || view->ranks[i].rank != view->ranks[count - 1].rank)
			view->ranks[count++] = view->ranks[i];
	view->rank_count = count;
	qsort(view->ranks, count, sizeof(*view->ranks), compare_ranks);
}

uint64_t fleet_top_heard_ns(const struct fleet_top *self)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < self->count; i++)
		last_ns = MAX(last_ns, self->nodes[i].heard_ns);
	return last_ns;
}

int top_view_make(struct top_view *ret, const struct fleet_top *top, const struct fleet *fleet)
{
	struct top_view view = { .costly_node = NODE_NONE,
				 .is_heard = calloc(fleet->node_count + 1, sizeof(bool)) };
	uint64_t now = now_ns();
	int r = view.is_heard ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < MIN(top->count, fleet->node_count); i++)
		if (top->nodes[i].heard_ns && now - top->nodes[i].heard_ns < STALE_NS)
			r = node_merge(&view, &top->nodes[i], fleet, i);
	if (r) {
		top_view_done(&view);
		return r;
	}
	ranks_sort(&view);
	spreads_sort(&view.functions);
	*ret = view;
	return 0;
}

void top_view_done(struct top_view *view)
{
	spreads_done(&view->functions);
	free(view->ranks);
	free(view->is_heard);
	*view = (struct top_view){ 0 };
}
