/*
 * Matches two recordings and adds them up.
 */
#include "host/model/diff/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/table.h"

/* Replaces the executable's name, which may differ; no file has this name. */
#define EXECUTABLE "/"

struct matching {
	struct comparison *comparison;
	struct pool texts;
	struct table functions, threads; /* numbers of texts: indexes */
};

static bool is_executable(const struct model *model, const struct sample_code *code)
{
	for (uint32_t i = 0; i < model->process_count; i++)
		if (code->kind == CODE_FILE &&
		    strcmp(model->processes[i]->executable, code->path) == 0)
			return true;
	return false;
}

/* The index of these two texts; a new one gets `known`. */
static int find_index(struct matching *self, struct table *table, const char *name,
		      const char *where, size_t known, uint32_t *ret)
{
	uint32_t a = pool_add(&self->texts, name), b = pool_add(&self->texts, where);
	struct table_entry *entry;
	bool is_new;

	if (a == POOL_NONE || b == POOL_NONE)
		return -ENOMEM;
	entry = table_make(table, a, b, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new)
		entry->value = known;
	*ret = (uint32_t)entry->value;
	return 0;
}

static int match_function(struct matching *self, const struct model *model, uint32_t number,
			  uint32_t *ret)
{
	struct comparison *all = self->comparison;
	const struct sample_function *function = &model->samples->functions[number];
	const struct sample_code *code = &model->samples->codes[function->code];
	const char *where = is_executable(model, code) ? EXECUTABLE : code->name;

	if (make_room(&all->functions, all->function_count, &all->function_room,
		      sizeof(*all->functions)) ||
	    find_index(self, &self->functions, function->name, where, all->function_count, ret))
		return -ENOMEM;
	if (*ret == all->function_count)
		all->functions[all->function_count++] = (struct compared_function){
			.name = function->name,
			.module = code->name,
			.is_named = function->is_named,
		};
	return 0;
}

static int match_thread(struct matching *self, const struct model *model, uint32_t number,
			uint32_t *ret)
{
	struct comparison *all = self->comparison;
	const char *name = model->threads[number]->name;

	if (make_room(&all->threads, all->thread_count, &all->thread_room, sizeof(*all->threads)) ||
	    find_index(self, &self->threads, name, "", all->thread_count, ret))
		return -ENOMEM;
	if (*ret == all->thread_count)
		all->threads[all->thread_count++] = (struct compared_thread){ .name = name };
	return 0;
}

static int match_side(struct matching *self, struct compared_side *side)
{
	const struct model *model = side->model;
	size_t functions = model->samples->function_count;
	int r = 0;

	side->functions = calloc(functions + 1, sizeof(*side->functions));
	side->threads = calloc(model->thread_count + 1, sizeof(*side->threads));
	if (!side->functions || !side->threads)
		return -ENOMEM;
	for (uint32_t i = 0; !r && i < functions; i++)
		r = match_function(self, model, i, &side->functions[i]);
	for (uint32_t i = 0; !r && i < model->thread_count; i++)
		r = match_thread(self, model, i, &side->threads[i]);
	return r;
}

static int add_functions(struct comparison *self, enum side number)
{
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };
	const struct compared_side *side = &self->sides[number];

	if (hot_functions_find(&hot, &side->profile))
		return -ENOMEM;
	for (size_t i = 0; i < hot.count; i++) {
		const struct hot_function *row = &hot.rows[i];
		size_t function = (size_t)(row->function - side->model->samples->functions);
		struct compared_part *part =
			&self->functions[side->functions[function]].parts[number];

		part->self_ns += row->self_ns;
		part->total_ns += row->total_ns;
		part->self_count += row->self_count;
		part->total_count += row->total_count;
	}
	return 0;
}

static void add_threads(struct comparison *self, enum side number)
{
	const struct compared_side *side = &self->sides[number];

	for (uint32_t i = 0; i < side->model->thread_count; i++)
		if (side->model->threads[i]->samples)
			self->threads[side->threads[i]].threads[number]++;
	for (size_t i = 0; i < side->profile.count; i++) {
		const struct profile_entry *entry = &side->profile.entries[i];
		struct compared_part *part =
			&self->threads[side->threads[entry->thread]].parts[number];

		part->total_ns += entry->weight_ns;
		part->total_count += entry->count;
	}
}

/* Kish: samples of unequal weight are as informative as this many of equal weight. */
static double even_samples(const struct profile *profile)
{
	double all = (double)profile->weight_ns;

	return profile->squares > 0 ? all * all / profile->squares : 0;
}

static int add_side(struct comparison *self, enum side number)
{
	struct compared_side *side = &self->sides[number];
	struct profile_filter filter = { .kinds = self->kinds, .is_by_thread = true };

	if (sample_profile_gather(&side->profile, side->model, &filter) ||
	    add_functions(self, number))
		return -ENOMEM;
	add_threads(self, number);
	side->even_samples = even_samples(&side->profile);
	return 0;
}

int comparison_make(struct comparison *ret, const struct compared_side sides[SIDES], unsigned kinds)
{
	struct matching matching = { .comparison = ret };
	int r = 0;

	*ret = (struct comparison){ .kinds = kinds };
	for (unsigned i = 0; !r && i < SIDES; i++) {
		ret->sides[i].path = sides[i].path;
		ret->sides[i].model = sides[i].model;
		r = match_side(&matching, &ret->sides[i]);
	}
	for (unsigned i = 0; !r && i < SIDES; i++)
		r = add_side(ret, i);
	table_done(&matching.functions);
	table_done(&matching.threads);
	pool_done(&matching.texts);
	return r;
}

void comparison_done(struct comparison *comparison)
{
	for (unsigned i = 0; i < SIDES; i++) {
		sample_profile_done(&comparison->sides[i].profile);
		free(comparison->sides[i].functions);
		free(comparison->sides[i].threads);
	}
	free(comparison->functions);
	free(comparison->threads);
	*comparison = (struct comparison){ 0 };
}

/* With one sample more on either side (Agresti and Caffo): a share of 0 or of all of few samples
 * would else seem to be exact. */
static double share_variance(double share, double samples)
{
	double moved = (fmin(share, 1) * samples + 1) / (samples + 2);

	return moved * (1 - moved) / (samples + 2);
}

struct share_change comparison_change(const struct comparison *comparison, uint64_t a_ns,
				      uint64_t b_ns)
{
	const uint64_t parts[SIDES] = { a_ns, b_ns };
	struct share_change change = { 0 };
	double sum = 0;

	for (unsigned i = 0; i < SIDES; i++) {
		const struct compared_side *side = &comparison->sides[i];
		double all = (double)side->profile.weight_ns;
		double share = all > 0 ? (double)parts[i] / all : 0;

		change.shares[i] = 100 * share;
		sum += share_variance(share, side->even_samples);
	}
	change.points = change.shares[SIDE_B] - change.shares[SIDE_A];
	change.error = 100 * 1.96 * sqrt(sum);
	change.is_noise = fabs(change.points) <= change.error;
	return change;
}

unsigned comparison_kinds(const struct model *a, const struct model *b)
{
	return a->samples->kinds[SAMPLE_RUNNING] && b->samples->kinds[SAMPLE_RUNNING] ? KINDS_ON_CPU
										      : KINDS_ALL;
}
