/*
 * A region begins when the call that resumes has returned, and ends when the one that pauses
 * begins, as in AMD's tool; before the first of them nothing is wanted.
 */
#include "host/export/amd/view/regions.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int regions_init(struct regions *ret, const struct model *model,
		 const struct region_options *options)
{
	*ret = (struct regions){ .options = *options, .process_count = model->process_count };
	if (!options->is_selected)
		return 0;
	ret->processes = calloc(MAX(model->process_count, 1u), sizeof(*ret->processes));
	return ret->processes ? 0 : -ENOMEM;
}

void regions_done(struct regions *regions)
{
	for (uint32_t i = 0; regions->processes && i < regions->process_count; i++)
		free(regions->processes[i].changes);
	free(regions->processes);
	*regions = (struct regions){ 0 };
}

/* 1 resumes, -1 pauses, 0 does neither. */
static int change_of(const struct call *call)
{
	if (call->function->domain != DOMAIN_MARKER)
		return 0;
	if (!strcmp(call->function->name, "roctxProfilerResume"))
		return 1;
	return strcmp(call->function->name, "roctxProfilerPause") ? 0 : -1;
}

/* Calls of other threads may have been inserted: counts again from there. */
static void count_from(const struct regions *self, struct process_regions *process, size_t at)
{
	int64_t depth = at ? process->changes[at - 1].depth : 0;

	for (size_t i = at; i < process->count; i++) {
		struct region_change *change = &process->changes[i];

		depth = self->options.is_counted ? MAX(depth + change->change, (int64_t)0)
						 : change->change > 0;
		change->depth = depth;
	}
}

int regions_add(struct regions *self, const struct call *call)
{
	int change = self->options.is_selected ? change_of(call) : 0;
	struct process_regions *process;
	struct region_change added;
	size_t at;

	if (!change)
		return 0;
	process = &self->processes[call->process->number];
	if (make_room(&process->changes, process->count, &process->room, sizeof(added)))
		return -ENOMEM;
	added = (struct region_change){ change > 0 ? call->end_ns : call->begin_ns, change, 0 };
	for (at = process->count; at && process->changes[at - 1].time_ns > added.time_ns; at--)
		process->changes[at] = process->changes[at - 1];
	process->changes[at] = added;
	process->count++;
	count_from(self, process, at);
	return 0;
}

bool regions_want(const struct regions *self, const struct call *call)
{
	uint64_t cause = call_is_work(call) ? call_number(call, VALUE_CAUSE) : 0;
	const struct process_regions *process;
	uint64_t time_ns;
	size_t at;

	if (!self->options.is_selected)
		return true;
	if (self->options.hides_markers && call->function->domain == DOMAIN_MARKER)
		return false;
	process = &self->processes[call->process->number];
	time_ns = cause ? model_time_ns(call->model, cause) : call->begin_ns;
	for (at = process->count; at && process->changes[at - 1].time_ns > time_ns; at--)
		;
	/* The call that pauses begins where its region ends. */
	return at && process->changes[at - 1].depth > 0 && !change_of(call);
}
