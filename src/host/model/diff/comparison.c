/*
 * Matches two recordings, adds them up, lays their call trees upon each other, and warns where they
 * are hard to compare.
 */
#include "host/model/diff/comparison.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/table.h"
#include "host/core/text/plural.h"

/* Fewer samples than this are unreliable. */
#define FEW_SAMPLES 200u
/* Percent of complete stacks. */
#define COMPLETE_POINTS 5.0

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

static int add_side(struct comparison *self, enum side number)
{
	struct compared_side *side = &self->sides[number];
	struct profile_filter filter = { .kinds = self->kinds, .is_by_thread = true };
	double all;

	if (sample_profile_gather(&side->profile, side->model, &filter) ||
	    add_functions(self, number))
		return -ENOMEM;
	add_threads(self, number);
	/* Kish: samples of unequal weight are as informative as this many of equal weight. */
	all = (double)side->profile.weight_ns;
	side->even_samples = side->profile.squares > 0 ? all * all / side->profile.squares : 0;
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

const char *side_name(enum side side)
{
	return side == SIDE_A ? "A" : "B";
}

void comparison_title(const struct comparison *comparison, enum side side, char *ret, size_t room)
{
	const struct compared_side *self = &comparison->sides[side];
	const struct model *model = self->model;
	char process[128] = "";

	if (model->process_count)
		snprintf(process, sizeof(process), ": %s (%d)", model->processes[0]->name,
			 model->processes[0]->pid);
	snprintf(ret, room, "%s: %s%s", side_name(side), self->path, process);
}

void comparison_describe(const struct comparison *comparison, enum side side, char *ret,
			 size_t room)
{
	const struct samples *samples = comparison->sides[side].model->samples;

	snprintf(ret, room,
		 "%" PRIu64 " sample%s in %.3f s at %u Hz by %s; %" PRIu64
		 " lost; %.2f %% complete",
		 samples->count, plural(samples->count),
		 (double)(samples->last_ns - samples->first_ns) / 1e9, samples->hz,
		 samples->sampler, samples->lost, (double)samples_complete(samples) / 100);
}

struct warnings {
	char (*texts)[COMPARISON_WARNING_SIZE];
	size_t count;
};

static void warning_add(struct warnings *self, const char *format, ...) PRINTF_LIKE(2, 3);
static void warning_add(struct warnings *self, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(self->texts[self->count++], COMPARISON_WARNING_SIZE, format, arguments);
	va_end(arguments);
}

static void warn_events(struct warnings *self, unsigned kinds, const struct samples *a,
			const struct samples *b)
{
	bool a_has_waits = a->flags & SAMPLING_OFF_CPU, a_has_kernel = a->flags & SAMPLING_KERNEL;

	if (((a->flags ^ b->flags) & SAMPLING_OFF_CPU) && kinds != KINDS_ON_CPU)
		warning_add(self,
			    "different events: only %s was recorded with --off-cpu, so only %s has "
			    "waits",
			    side_name(a_has_waits ? SIDE_A : SIDE_B),
			    side_name(a_has_waits ? SIDE_A : SIDE_B));
	if ((a->flags ^ b->flags) & SAMPLING_KERNEL)
		warning_add(self,
			    "different events: only %s has the kernel's frames; in %s its time is "
			    "that of its callers",
			    side_name(a_has_kernel ? SIDE_A : SIDE_B),
			    side_name(a_has_kernel ? SIDE_B : SIDE_A));
	if (a->hz != b->hz)
		warning_add(
			self,
			"different rates: %u Hz in A, %u Hz in B; shares can be compared, counts "
			"cannot",
			a->hz, b->hz);
	if (strcmp(a->sampler, b->sampler))
		warning_add(self,
			    "different samplers: %.64s in A, %.64s in B; they do not see the same",
			    a->sampler, b->sampler);
}

size_t comparison_warnings(const struct comparison *comparison,
			   char ret[COMPARISON_WARNINGS_MAX][COMPARISON_WARNING_SIZE])
{
	const struct compared_side *sides = comparison->sides;
	const struct samples *a = sides[SIDE_A].model->samples, *b = sides[SIDE_B].model->samples;
	double complete_a = (double)samples_complete(a) / 100;
	double complete_b = (double)samples_complete(b) / 100;
	uint64_t count_a = sides[SIDE_A].profile.sample_count;
	uint64_t count_b = sides[SIDE_B].profile.sample_count;
	struct warnings self = { .texts = ret };

	warn_events(&self, comparison->kinds, a, b);
	if (fabs(complete_a - complete_b) > COMPLETE_POINTS)
		warning_add(
			&self,
			"%.2f %% of the stacks are complete in A, %.2f %% in B: totals of outer "
			"functions differ for that alone",
			complete_a, complete_b);
	if (a->lost || b->lost)
		warning_add(&self, "samples were lost: %" PRIu64 " in A, %" PRIu64 " in B", a->lost,
			    b->lost);
	if (count_a < FEW_SAMPLES || count_b < FEW_SAMPLES)
		warning_add(&self,
			    "few samples (%" PRIu64 " in A, %" PRIu64
			    " in B): only large differences are more than chance",
			    count_a, count_b);
	return self.count;
}

static int tree_add_side(struct call_tree *tree, const struct compared_side *side, enum side number,
			 const struct profile *profile, uint32_t **of_entry)
{
	const struct tree_source source = { .model = side->model,
					    .functions = side->functions,
					    .side = number };

	if (!of_entry)
		return call_tree_add(tree, &source, profile, NULL);
	*of_entry = calloc(profile->count + 1, sizeof(**of_entry));
	return *of_entry ? call_tree_add(tree, &source, profile, *of_entry) : -ENOMEM;
}

int diff_tree_build(struct call_tree *ret, const struct comparison *comparison,
		    const struct profile *const profiles[SIDES], uint32_t *of_entry[SIDES])
{
	int r = call_tree_init(ret, SIDES);

	for (unsigned i = 0; !r && i < SIDES; i++)
		r = tree_add_side(ret, &comparison->sides[i], i, profiles[i],
				  of_entry ? &of_entry[i] : NULL);
	return r ? r : call_tree_finish(ret, /* least */ 0);
}

const char *diff_tree_name(const struct comparison *comparison, const struct tree_node *node)
{
	if (node->kind == TREE_FUNCTION)
		return comparison->functions[node->value].name;
	return node->kind == TREE_ALL ? "all" : "[incomplete stack]";
}
