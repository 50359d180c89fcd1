/*
 * Makes samples of traced calls.
 */
#include "host/model/calls/call_view.h"
#include "host/model/model.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/text/path.h"
#include "host/core/text/plural.h"
#include "host/core/text/text.h"
#include "host/model/calls/allocations.h"
#include "host/model/calls/call_sites.h"
#include "host/model/samples/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call_view {
	struct model *model;
	struct allocations allocations;
	struct call_sites sites;
	struct table frames; /* (function): number of its frame */
	struct table stacks; /* (caller, frame): number */
	struct recorded_sample *kept;
	uint64_t *counts;
	size_t count;
};

/* The function that was called has no address: one frame for each. */
static int frame_add(struct samples *samples, const struct trace_function *function)
{
	const struct recorded_name name = { .function = function->name, .file = "" };
	const char *path = pool_keep(&samples->texts, function->library);
	struct sample_frame *frame;

	if (!path ||
	    make_room(&samples->codes, samples->code_count, &samples->code_room,
		      sizeof(*samples->codes)) ||
	    make_room(&samples->frames, samples->frame_count, &samples->frame_room,
		      sizeof(*samples->frames)))
		return -ENOMEM;
	samples->codes[samples->code_count] = (struct sample_code){ .process = PROCESS_NONE,
								    .path = path,
								    .name = path_base_name(path) };
	frame = &samples->frames[samples->frame_count++];
	*frame = (struct sample_frame){ .code = (uint32_t)samples->code_count++ };
	return samples_set_names(samples, frame, &name, 1);
}

static int frame_find(struct call_view *self, const struct trace_function *function, uint32_t *ret)
{
	struct samples *samples = self->model->samples;
	bool is_new;
	struct table_entry *entry = table_make(&self->frames, (uintptr_t)function, 0, &is_new);

	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = samples->frame_count;
		if (frame_add(samples, function))
			return -ENOMEM;
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

/* A site's stack with the function that it called on top. */
static int stack_find(struct call_view *self, const struct trace_function *function,
		      uint32_t caller, uint32_t *ret)
{
	struct samples *samples = self->model->samples;
	uint32_t frame;

	*ret = caller;
	if (caller != STACK_NONE && samples->stacks[caller].depth >= STACK_DEPTH_MAX)
		return 0;
	return frame_find(self, function, &frame) ||
			       samples_stack(samples, &self->stacks, frame, ret)
		       ? -ENOMEM
		       : 0;
}

static void sample_add(struct call_view *self, const struct recorded_sample *sample, double blocks)
{
	struct samples *samples = self->model->samples;
	uint64_t count = (uint64_t)(blocks + 0.5);

	if (!sample->weight_ns)
		return;
	self->kept[self->count] = *sample;
	self->counts[self->count++] = count;
	samples->kinds[sample->kind] += count;
	samples->weights_ns[sample->kind] += sample->weight_ns;
	if (sample->kind == SAMPLE_LIVE)
		return;
	samples->count += count;
	samples->ends[sample->end] += count;
	self->model->threads[sample->thread]->samples += count;
}

/* Sums of estimates return to zero only approximately. */
static uint64_t whole_bytes(double bytes)
{
	return bytes >= 0.5 ? (uint64_t)(bytes + 0.5) : 0;
}

static uint64_t sample_time(const struct call_view *self, uint64_t begin_ns)
{
	const struct model *model = self->model;

	return begin_ns - (model->first.boot_ns - model->first.monotonic_ns);
}

static int allocation_site_add(struct call_view *self, const struct allocation_site *site)
{
	struct recorded_sample sample = {
		.thread = site->thread->number,
		.time_ns = sample_time(self, site->begin_ns),
		.weight_ns = whole_bytes(site->bytes),
		.kind = SAMPLE_ALLOCATED,
		.end = (uint8_t)site->stack_end,
		.state = 'R',
	};

	if (stack_find(self, site->function, site->stack, &sample.stack))
		return -ENOMEM;
	sample_add(self, &sample, site->calls);
	sample.kind = SAMPLE_LIVE;
	sample.weight_ns = whole_bytes(site->live_bytes);
	sample_add(self, &sample, site->live_blocks);
	return 0;
}

static void samples_forget(struct model *model)
{
	struct samples *samples = model->samples;
	struct model_span span = model_span(model);

	samples->chunk_count = 0;
	samples->hz = 0;
	samples->flags &= SAMPLING_SYSTEM_WIDE;
	samples->lost = samples->guessed = samples->count = 0;
	samples->first_ns = span.begin_ns;
	samples->last_ns = span.end_ns;
	memset(samples->kinds, 0, sizeof(samples->kinds));
	memset(samples->weights_ns, 0, sizeof(samples->weights_ns));
	memset(samples->ends, 0, sizeof(samples->ends));
	for (uint32_t i = 0; i < model->thread_count; i++)
		model->threads[i]->samples = 0;
}

static int call_site_add(struct call_view *self, const struct call_site *site)
{
	bool is_lock = site->function->domain == DOMAIN_LOCK;
	struct recorded_sample sample = {
		.thread = site->thread->number,
		.time_ns = sample_time(self, site->begin_ns),
		.weight_ns = site->statistics.total_ns,
		.kind = (uint8_t)(is_lock ? SAMPLE_LOCK : SAMPLE_IO),
		.end = (uint8_t)site->stack_end,
		.state = 'R',
	};

	if (stack_find(self, site->function, site->stack, &sample.stack))
		return -ENOMEM;
	sample_add(self, &sample, (double)site->statistics.calls);
	return 0;
}

static int view_add(const struct call *call, void *context)
{
	struct call_view *self = context;
	int r = call_sites_add(&self->sites, call);

	return r ? r : allocations_add(&self->allocations, call);
}

/* The model owns the new stacks. */
static int sites_add(struct call_view *self, bool is_memory)
{
	struct samples *samples = self->model->samples;
	size_t most = 2 * (size_t)self->allocations.site_count + self->sites.count + 1;
	int r = text_set(&samples->sampler, "limpet's trace of calls");

	self->kept = calloc(most, sizeof(*self->kept));
	self->counts = calloc(most, sizeof(*self->counts));
	samples->kept = samples->kept_made = self->kept;
	samples->kept_counts = self->counts;
	if (r || !self->kept || !self->counts)
		return -ENOMEM;
	samples_forget(self->model);
	for (uint32_t i = 0; !r && is_memory && i < self->allocations.site_count; i++)
		r = allocation_site_add(self, &self->allocations.sites[i]);
	for (uint32_t i = 0; !r && !is_memory && i < self->sites.count; i++)
		r = call_site_add(self, &self->sites.rows[i]);
	samples->kept_count = self->count;
	return r;
}

int model_view_calls(struct model *model, unsigned kinds)
{
	bool is_lock = kinds & KIND_BIT(SAMPLE_LOCK);
	struct call_view self = {
		.model = model,
		.sites = { .domains = is_lock ? DOMAIN_BIT(LOCK) : DOMAIN_BIT(IO),
			   .is_by_thread = true },
	};
	int r = allocations_init(&self.allocations, model);

	self.allocations.is_by_thread = true;
	if (!r)
		r = model_each_call(model, view_add, &self);
	if (!r)
		r = allocations_finish(&self.allocations);
	if (!r)
		r = sites_add(&self, profile_kinds_are_bytes(kinds));
	allocations_done(&self.allocations);
	call_sites_done(&self.sites);
	table_done(&self.frames);
	table_done(&self.stacks);
	return r;
}

static void describe_memory(const struct model *model, char *ret, size_t room)
{
	const struct samples *samples = model->samples;

	snprintf(ret, room,
		 "%s%" PRIu64 " bytes allocated, %" PRIu64
		 " not freed by the end; %.2f %% of the allocations have complete stacks",
		 model->alloc_sample ? "estimated from samples: " : "",
		 samples->weights_ns[SAMPLE_ALLOCATED], samples->weights_ns[SAMPLE_LIVE],
		 (double)samples_complete(samples) / 100);
}

void call_view_describe(const struct model *model, char *ret, size_t room)
{
	const struct samples *samples = model->samples;
	unsigned kind = samples->view & KIND_BIT(SAMPLE_LOCK) ? SAMPLE_LOCK : SAMPLE_IO;

	if (profile_kinds_are_bytes(samples->view))
		describe_memory(model, ret, room);
	else
		snprintf(ret, room,
			 "%.6f s in %" PRIu64 " call%s of %s; %.2f %% of the calls have complete "
			 "stacks",
			 (double)samples->weights_ns[kind] / 1e9, samples->count,
			 plural(samples->count), kind == SAMPLE_LOCK ? "locks" : "I/O",
			 (double)samples_complete(samples) / 100);
}
