/*
 * Adds the live store up.
 */
#include "host/top/picture.h"

#include "host/core/cleanup.h"
#include "host/live/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX  4096u
#define NEIGHBOURS_MAX 1024u

struct making {
	struct picture *picture;
	struct live *live;
	const struct picture_wish *wish;
};

static int add_functions(struct picture *self, const struct samples *samples,
			 const struct profile *profile)
{
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };

	if (hot_functions_find(&hot, profile))
		return -ENOMEM;
	self->function_count = MIN(hot.count, FUNCTIONS_MAX);
	self->functions = calloc(self->function_count + 1, sizeof(*self->functions));
	if (!self->functions)
		return -ENOMEM;
	for (size_t i = 0; i < self->function_count; i++) {
		const struct hot_function *row = &hot.rows[i];

		self->functions[i] = (struct picture_function){
			.name = row->function->name,
			.module = samples->codes[row->function->code].name,
			.is_named = row->function->is_named,
			.self_ns = row->self_ns,
			.total_ns = row->total_ns,
			.self_count = row->self_count,
		};
	}
	return 0;
}

static int add_neighbours(const struct samples *samples, const struct neighbour *from, size_t count,
			  struct picture_neighbour **ret, size_t *ret_count)
{
	*ret_count = MIN(count, NEIGHBOURS_MAX);
	*ret = calloc(*ret_count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < *ret_count; i++)
		(*ret)[i] = (struct picture_neighbour){
			.name = from[i].function->name,
			.module = samples->codes[from[i].function->code].name,
			.is_named = from[i].function->is_named,
			.total_ns = from[i].total_ns,
		};
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

static int add_opened(struct picture *self, const struct profile *profile,
		      const struct picture_wish *wish)
{
	CLEANUP(neighbours_done) struct neighbours found = { 0 };
	const struct samples *samples = profile->samples;
	struct picture_opened *opened = &self->opened;
	uint32_t function;

	if (!find_function(samples, wish, &function))
		return 0;
	if (neighbours_find(&found, profile, function))
		return -ENOMEM;
	opened->self_ns = found.self_ns;
	opened->total_ns = found.total_ns;
	opened->lines = TAKE(found.lines);
	opened->line_count = MIN(found.line_count, NEIGHBOURS_MAX);
	return add_neighbours(samples, found.callers, found.caller_count, &opened->callers,
			      &opened->caller_count) ||
			       add_neighbours(samples, found.callees, found.callee_count,
					      &opened->callees, &opened->callee_count)
		       ? -ENOMEM
		       : 0;
}

static int add_tree(const struct making *self, struct model *model, const struct profile *profile)
{
	const struct tree_source source = { .model = model };
	struct call_tree *tree = &self->picture->tree;

	if (samples_are_system_wide(model->samples))
		return call_tree_build(tree, model, profile,
				       &(struct call_tree_options){ .is_by_process = true });
	return call_tree_weigh(&live_trees(self->live)[0], &source, profile, /* least */ 0, tree);
}

/* Threads with samples; top.c adds those of /proc. */
static int add_threads(struct picture *self, struct model *model)
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

static int model_add_up(struct model *model, void *context)
{
	struct making *self = context;
	CLEANUP(sample_profile_done) struct profile profile = { .samples = model->samples };
	pid_t tid = self->wish->only_tid;
	struct profile_filter filter = { .kinds = self->wish->kinds,
					 .is_one_thread = tid,
					 .is_by_thread = samples_are_system_wide(model->samples) };
	int r = 0;

	self->picture->view = live_view_hold(self->live);
	/* A thread without a sample has none to show. */
	if (!tid || live_thread_number(self->live, tid, &filter.thread))
		r = sample_profile_gather(&profile, model, &filter);
	if (!r)
		r = add_functions(self->picture, model->samples, &profile);
	if (!r)
		r = add_tree(self, model, &profile);
	if (!r)
		r = add_opened(self->picture, &profile, self->wish);
	if (!r)
		r = add_threads(self->picture, model);
	self->picture->samples = profile.sample_count;
	self->picture->weight_ns = profile.weight_ns;
	return r ? -ENOMEM : 0;
}

int picture_make(struct picture **ret, struct live *live, const struct picture_wish *wish)
{
	struct picture *self = calloc(1, sizeof(*self));
	struct making making = { self, live, wish };
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
	    live_read(live, from_ns, wish->until_ns, model_add_up, &making)) {
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
	call_tree_done(&picture->tree);
	free(picture->opened.callers);
	free(picture->opened.callees);
	free(picture->opened.lines);
	live_view_unref(picture->view);
	free(picture);
}
