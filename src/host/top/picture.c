/*
 * Adds the live model up.
 */
#include "host/top/picture.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/model/samples/call_tree.h"
#include "host/model/samples/neighbours.h"
#include "host/top/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX  4096u
#define NODES_MAX      8192u
#define NEIGHBOURS_MAX 1024u
/* No screen is wider. */
#define WIDTH_MAX 1024u

struct taking {
	struct picture *picture;
	const struct live *live;
	const struct picture_wish *wish;
};

static int take_functions(struct picture *self, const struct samples *samples,
			  const struct profile *profile)
{
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };
	size_t count;

	if (hot_functions_find(&hot, profile))
		return -ENOMEM;
	count = MIN(hot.count, FUNCTIONS_MAX);
	self->functions = calloc(count + 1, sizeof(*self->functions));
	if (!self->functions)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct hot_function *row = &hot.rows[i];
		const char *module = samples->codes[row->function->code].name;

		self->functions[i] = (struct picture_function){
			.name = pool_keep(&self->texts, row->function->name),
			.module = pool_keep(&self->texts, module),
			.is_named = row->function->is_named,
			.self_ns = row->self_ns,
			.total_ns = row->total_ns,
			.self_count = row->self_count,
		};
		if (!self->functions[i].name || !self->functions[i].module)
			return -ENOMEM;
	}
	self->function_count = count;
	return 0;
}

static int take_neighbours(struct picture *self, const struct samples *samples,
			   const struct neighbour *from, size_t count,
			   struct picture_neighbour **ret, size_t *ret_count)
{
	count = MIN(count, NEIGHBOURS_MAX);
	*ret = calloc(count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const char *module = samples->codes[from[i].function->code].name;

		(*ret)[i] = (struct picture_neighbour){
			.name = pool_keep(&self->texts, from[i].function->name),
			.module = pool_keep(&self->texts, module),
			.is_named = from[i].function->is_named,
			.total_ns = from[i].total_ns,
		};
		if (!(*ret)[i].name || !(*ret)[i].module)
			return -ENOMEM;
	}
	*ret_count = count;
	return 0;
}

static int take_lines(struct picture *self, const struct neighbours *from)
{
	struct picture_opened *opened = &self->opened;
	size_t count = MIN(from->line_count, NEIGHBOURS_MAX);

	opened->lines = calloc(count + 1, sizeof(*opened->lines));
	if (!opened->lines)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct hot_line *line = &from->lines[i];

		opened->lines[i] =
			(struct picture_line){ pool_keep(&self->texts, line->file), line->line,
					       line->self_ns, line->total_ns };
		if (!opened->lines[i].file)
			return -ENOMEM;
	}
	opened->line_count = count;
	return 0;
}

/* The newest of that name: a program that is executed again has its functions anew. */
static bool find_function(const struct samples *samples, const struct picture_wish *wish,
			  uint32_t *ret)
{
	if (!wish->function || !wish->function[0])
		return false;
	for (size_t i = samples->function_count; i-- > 0;) {
		const struct sample_function *function = &samples->functions[i];

		*ret = (uint32_t)i;
		if (!strcmp(function->name, wish->function) &&
		    !strcmp(samples->codes[function->code].name, wish->module))
			return true;
	}
	return false;
}

static int take_opened(struct picture *self, const struct profile *profile,
		       const struct picture_wish *wish)
{
	CLEANUP(neighbours_done) struct neighbours found = { 0 };
	struct picture_opened *opened = &self->opened;
	uint32_t function;

	if (!find_function(profile->samples, wish, &function))
		return 0;
	if (neighbours_find(&found, profile, function))
		return -ENOMEM;
	opened->self_ns = found.self_ns;
	opened->total_ns = found.total_ns;
	if (take_neighbours(self, profile->samples, found.callers, found.caller_count,
			    &opened->callers, &opened->caller_count) ||
	    take_neighbours(self, profile->samples, found.callees, found.callee_count,
			    &opened->callees, &opened->callee_count))
		return -ENOMEM;
	return take_lines(self, &found);
}

static int add_node(struct picture *self, const struct call_tree *tree, uint32_t from, size_t *room)
{
	const struct tree_node *node = &tree->nodes[from];
	char name[512];

	call_tree_name(tree, node, name, sizeof(name));
	if (make_room(&self->nodes, self->node_count, room, sizeof(*self->nodes)))
		return -ENOMEM;
	self->nodes[self->node_count++] =
		(struct picture_node){ .name = pool_keep(&self->texts, name),
				       .is_function = call_tree_function(tree, node),
				       .first = PICTURE_NONE,
				       .next = PICTURE_NONE,
				       .self_ns = node->self_ns,
				       .total_ns = node->total_ns };
	if (call_tree_function(tree, node))
		self->nodes[self->node_count - 1].language = call_tree_language(tree, node);
	return self->nodes[self->node_count - 1].name ? 0 : -ENOMEM;
}

/* `of` has the tree's number of each node in the picture.  Level by level: a picture that becomes
 * too large is cut at its deepest nodes. */
static int take_children(struct picture *self, const struct call_tree *tree, uint32_t parent,
			 uint32_t *of, size_t *room)
{
	uint64_t least = tree->nodes[0].total_ns / WIDTH_MAX;
	uint32_t last = PICTURE_NONE;

	for (uint32_t at = tree->nodes[of[parent]].first; at != TREE_NONE;
	     at = tree->nodes[at].next) {
		uint32_t number = (uint32_t)self->node_count;

		if (tree->nodes[at].total_ns <= least || number >= NODES_MAX)
			break;
		if (add_node(self, tree, at, room))
			return -ENOMEM;
		of[number] = at;
		if (last == PICTURE_NONE)
			self->nodes[parent].first = number;
		else
			self->nodes[last].next = number;
		last = number;
	}
	return 0;
}

static int take_nodes(struct picture *self, const struct call_tree *tree)
{
	uint32_t *of = calloc(NODES_MAX, sizeof(*of));
	size_t room = 0;
	int r = of ? add_node(self, tree, 0, &room) : -ENOMEM;

	for (uint32_t i = 0; !r && i < self->node_count; i++)
		r = take_children(self, tree, i, of, &room);
	free(of);
	return r;
}

static int take_tree(struct picture *self, struct model *model, const struct profile *profile)
{
	CLEANUP(call_tree_done) struct call_tree tree = { 0 };

	if (call_tree_build(&tree, model, profile,
			    &(struct call_tree_options){
				    .is_by_process = samples_are_system_wide(model->samples) }))
		return -ENOMEM;
	return take_nodes(self, &tree);
}

/* Threads with samples; thread_watch.c adds those of /proc. */
static int take_threads(struct picture *self, struct model *model)
{
	CLEANUP(free) struct thread_profile *rows = NULL;
	unsigned kinds = self->kinds;

	if (thread_profiles_find(&rows, model))
		return -ENOMEM;
	self->threads = calloc(model->thread_count + 1u, sizeof(*self->threads));
	if (!self->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->thread_count; i++) {
		struct picture_thread *thread = &self->threads[self->thread_count];

		*thread = (struct picture_thread){ .tid = rows[i].thread->tid, .percent = -1 };
		snprintf(thread->name, sizeof(thread->name), "%s", rows[i].thread->name);
		for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
			thread->samples += kinds & KIND_BIT(kind) ? rows[i].counts[kind] : 0;
			thread->weight_ns += kinds & KIND_BIT(kind) ? rows[i].weights_ns[kind] : 0;
		}
		self->thread_count += thread->samples > 0;
	}
	return 0;
}

/* One that had no sample has none to show. */
static bool choose_thread(const struct taking *self, struct profile_filter *filter)
{
	pid_t tid = self->wish->only_tid;

	filter->is_one_thread = tid;
	return !tid || live_thread_number(self->live, tid, &filter->thread);
}

static int model_take(struct model *model, void *context)
{
	struct taking *self = context;
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	struct profile_filter filter = { .kinds = self->wish->kinds,
					 .is_by_thread = samples_are_system_wide(model->samples) };
	int r = 0;

	profile.samples = model->samples;
	if (choose_thread(self, &filter))
		r = sample_profile_gather(&profile, model, &filter);
	if (!r)
		r = take_functions(self->picture, model->samples, &profile);
	if (!r)
		r = take_tree(self->picture, model, &profile);
	if (!r)
		r = take_opened(self->picture, &profile, self->wish);
	if (!r)
		r = take_threads(self->picture, model);
	self->picture->samples = profile.sample_count;
	self->picture->weight_ns = profile.weight_ns;
	return r ? -ENOMEM : 0;
}

int picture_take(struct picture **ret, struct live *live, const struct picture_wish *wish)
{
	struct picture *self = calloc(1, sizeof(*self));
	struct taking taking = { self, live, wish };
	struct live_counts counts;
	uint64_t from_ns =
		wish->window_ns ? wish->until_ns - MIN(wish->until_ns, wish->window_ns) : 0;

	if (!self)
		return -ENOMEM;
	self->kinds = wish->kinds;
	self->window_ns = wish->window_ns;
	self->only_tid = wish->only_tid;
	if ((wish->function && wish->function[0] &&
	     live_find_lines(live, wish->function, wish->module)) ||
	    live_read(live, from_ns, wish->until_ns, model_take, &taking)) {
		picture_free(self);
		return -ENOMEM;
	}
	counts = live_counts(live);
	self->seen = counts.seen;
	self->complete = counts.ends[STACK_COMPLETE];
	self->forgotten = counts.forgotten;
	*ret = self;
	return 0;
}

void picture_free(struct picture *picture)
{
	if (!picture)
		return;
	free(picture->functions);
	free(picture->threads);
	free(picture->counters);
	free(picture->nodes);
	free(picture->opened.callers);
	free(picture->opened.callees);
	free(picture->opened.lines);
	pool_done(&picture->texts);
	free(picture);
}
