/*
 * Adds samples up.
 */
#include "host/model/samples/profile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/rows.h"

struct gathering {
	struct profile *profile;
	const struct profile_filter *filter;
	struct row_index by_stack;
};

static int sample_add(const struct sample_event *event, void *context)
{
	struct gathering *self = context;
	const struct profile_filter *filter = self->filter;
	struct profile *profile = self->profile;
	uint32_t thread = filter->is_by_thread ? event->thread->number : THREAD_NONE;
	double square = (double)event->weight_ns * (double)event->weight_ns;
	struct profile_entry *entry;

	if ((filter->kinds && !(filter->kinds & KIND_BIT(event->kind))) ||
	    (filter->is_one_thread && event->thread->number != filter->thread))
		return 0;
	entry = row_find(&self->by_stack,
			 (struct row_key){ (uint64_t)thread << 32 | event->stack,
					   (uint64_t)event->kind << 8 | event->end },
			 &profile->entries, &profile->count, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->thread = thread;
	entry->stack = event->stack;
	entry->kind = event->kind;
	entry->end = event->end;
	entry->count += event->count;
	entry->weight_ns += event->weight_ns;
	entry->squares += square;
	profile->sample_count += event->count;
	profile->weight_ns += event->weight_ns;
	profile->squares += square;
	return 0;
}

static int by_weight(const void *left, const void *right)
{
	const struct profile_entry *a = left, *b = right;

	if (a->weight_ns != b->weight_ns)
		return a->weight_ns > b->weight_ns ? -1 : 1;
	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

int sample_profile_gather(struct profile *ret, struct model *model,
			  const struct profile_filter *filter)
{
	struct gathering self = { .profile = ret, .filter = filter };
	int r;

	*ret = (struct profile){ .samples = model->samples };
	r = model_each_sample(model, sample_add, &self);
	table_done(&self.by_stack.numbers);
	rows_sort(ret->entries, ret->count, sizeof(*ret->entries), by_weight);
	return r;
}

void sample_profile_done(struct profile *profile)
{
	free(profile->entries);
	*profile = (struct profile){ 0 };
}

unsigned profile_kinds(const struct samples *samples)
{
	if (samples->view)
		return samples->view;
	return samples->kinds[SAMPLE_RUNNING] ? KINDS_ON_CPU : KINDS_ALL;
}

static const struct {
	const char *name;
	unsigned kinds;
} kind_sets[] = {
	{ "on-cpu", KINDS_ON_CPU },
	{ "off-cpu", KINDS_OFF_CPU },
	{ "runnable", KIND_BIT(SAMPLE_RUNNABLE) },
	{ "wall", KINDS_ALL },
	{ "alloc", KIND_BIT(SAMPLE_ALLOCATED) },
	{ "live", KIND_BIT(SAMPLE_LIVE) },
	{ "lock", KIND_BIT(SAMPLE_LOCK) },
	{ "io", KIND_BIT(SAMPLE_IO) },
};

const char *profile_kinds_name(unsigned kinds)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_sets); i++)
		if (kind_sets[i].kinds == kinds)
			return kind_sets[i].name;
	return NULL;
}

unsigned profile_kinds_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_sets); i++)
		if (strcmp(kind_sets[i].name, name) == 0)
			return kind_sets[i].kinds;
	return 0;
}

static bool is_of_kernel(const struct samples *samples, uint32_t stack)
{
	const struct sample_frame *frame = &samples->frames[samples->stacks[stack].frame];

	return samples->codes[frame->code].kind == CODE_KERNEL;
}

uint32_t profile_place(const struct samples *samples, const struct profile_entry *entry)
{
	uint32_t at = entry->kind == SAMPLE_RUNNING ? STACK_NONE : entry->stack;

	while (at != STACK_NONE && is_of_kernel(samples, at))
		at = samples->stacks[at].caller;
	return at == STACK_NONE ? entry->stack : at;
}

/* Adds an entry to each function of its stack, to one that is in it several times only once. */
static void add_entry(const struct profile *profile, const struct profile_entry *entry,
		      struct hot_function *rows, uint32_t *stamps, uint32_t stamp)
{
	const struct samples *samples = profile->samples;
	uint32_t place = profile_place(samples, entry);

	for (uint32_t at = entry->stack; at != STACK_NONE; at = samples->stacks[at].caller) {
		const struct sample_frame *frame = &samples->frames[samples->stacks[at].frame];

		for (uint32_t i = 0; i < frame->location_count; i++) {
			uint32_t number = samples->locations[frame->first_location + i].function;
			struct hot_function *row = &rows[number];
			bool is_self = at == place && i == 0;

			row->self_ns += is_self ? entry->weight_ns : 0;
			row->self_count += is_self ? entry->count : 0;
			row->self_squares += is_self ? entry->squares : 0;
			if (stamps[number] == stamp)
				continue;
			stamps[number] = stamp;
			row->total_ns += entry->weight_ns;
			row->total_count += entry->count;
		}
	}
}

static int by_self(const void *left, const void *right)
{
	const struct hot_function *a = left, *b = right;

	if (a->self_ns != b->self_ns)
		return a->self_ns > b->self_ns ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->function->name, b->function->name);
}

int hot_functions_find(struct hot_functions *ret, const struct profile *profile)
{
	const struct samples *samples = profile->samples;
	size_t count = samples->function_count;
	uint32_t *stamps;

	*ret = (struct hot_functions){ .rows = calloc(count + 1, sizeof(*ret->rows)) };
	stamps = ret->rows ? calloc(count + 1, sizeof(*stamps)) : NULL;
	if (!stamps)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ret->rows[i].function = &samples->functions[i];
	for (size_t i = 0; i < profile->count; i++)
		add_entry(profile, &profile->entries[i], ret->rows, stamps, (uint32_t)i + 1);
	free(stamps);
	/* Drops functions without samples. */
	for (size_t i = 0; i < count; i++)
		if (ret->rows[i].total_count)
			ret->rows[ret->count++] = ret->rows[i];
	rows_sort(ret->rows, ret->count, sizeof(*ret->rows), by_self);
	return 0;
}

void hot_functions_done(struct hot_functions *hot)
{
	free(hot->rows);
	*hot = (struct hot_functions){ 0 };
}

static int add_to_thread(const struct sample_event *event, void *context)
{
	struct thread_profile *row = *(struct thread_profile **)context + event->thread->number;

	row->counts[event->kind]++;
	row->weights_ns[event->kind] += event->weight_ns;
	if (event->kind == SAMPLE_BLOCKED && event->state == 'D')
		row->disk_ns += event->weight_ns;
	row->incomplete += event->end != STACK_COMPLETE;
	return 0;
}

int thread_profiles_find(struct thread_profile **ret, struct model *model)
{
	*ret = calloc(model->thread_count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->thread_count; i++)
		(*ret)[i].thread = model->threads[i];
	return model_each_sample(model, add_to_thread, ret);
}

int process_profiles_add_up(struct process_profile **ret, const struct model *model,
			    const struct thread_profile *threads)
{
	*ret = calloc((size_t)model->process_count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->process_count; i++)
		(*ret)[i].process = model->processes[i];
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct model_process *process = threads[i].thread->process;
		struct process_profile *row = process ? &(*ret)[process->number] : NULL;
		uint64_t samples = thread_profile_count(&threads[i]);

		if (!row)
			continue;
		for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
			row->weights_ns[kind] += threads[i].weights_ns[kind];
		row->threads += samples > 0;
		row->samples += samples;
		row->incomplete += threads[i].incomplete;
	}
	return 0;
}

/* Of a ratio of sums: share * (1 - share) / count where all weights are the same.  None of n
 * samples, or all: the rule of three, 3 / n; samples of unlike weights count as fewer. */
uint64_t share_error(const struct hot_function *function, const struct profile *profile)
{
	double all = (double)profile->weight_ns, share = (double)function->self_ns / all;
	double others = MAX(profile->squares - function->self_squares, 0);
	double variance =
		function->self_squares * (1 - share) * (1 - share) + others * share * share;
	bool is_extreme = !function->self_ns || function->self_ns == profile->weight_ns;

	if (all <= 0)
		return 0;
	return (uint64_t)(10000 * (is_extreme ? MIN(3 * profile->squares / (all * all), 1)
					      : 1.96 * sqrt(variance) / all) +
			  0.5);
}

const char *process_title(const struct model_process *process, char *ret, size_t room)
{
	snprintf(ret, room, "%s (%d)", process->name, process->pid);
	return ret;
}

bool samples_are_system_wide(const struct samples *samples)
{
	return samples->flags & SAMPLING_SYSTEM_WIDE;
}

const char *recording_title(const struct model *model, char *ret, size_t room)
{
	if (samples_are_system_wide(model->samples))
		snprintf(ret, room, "every process on %s", model->host);
	else if (model->process_count)
		process_title(model->processes[0], ret, room);
	else
		snprintf(ret, room, "flame graph");
	return ret;
}

const char *thread_title(const struct model *model, const struct model_thread *thread, char *ret,
			 size_t room)
{
	if (model->process_count > 1)
		snprintf(ret, room, "%s %d: %s (%d)", thread->process->name, thread->process->pid,
			 thread->name, thread->tid);
	else
		snprintf(ret, room, "%s (%d)", thread->name, thread->tid);
	return ret;
}
