/*
 * Makes samples of allocations.
 */
#include "host/model/calls/call_view.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/text/path.h"
#include "host/core/text/text.h"
#include "host/model/calls/allocations.h"
#include "host/model/samples/samples.h"
#include "host/model/span.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call_view {
	struct model *model;
	struct allocations allocations;
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

/* The site's stack with the function that it called on top. */
static int stack_find(struct call_view *self, const struct allocation_site *site, uint32_t *ret)
{
	struct samples *samples = self->model->samples;
	struct table_entry *entry;
	uint32_t frame, depth = 1;
	bool is_new;

	if (site->stack != STACK_NONE)
		depth += samples->stacks[site->stack].depth;
	*ret = site->stack;
	if (depth > STACK_DEPTH_MAX)
		return 0;
	if (frame_find(self, site->function, &frame) ||
	    make_room(&samples->stacks, samples->stack_count, &samples->stack_room,
		      sizeof(*samples->stacks)))
		return -ENOMEM;
	entry = table_make(&self->stacks, site->stack, frame, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = samples->stack_count;
		samples->stacks[samples->stack_count++] =
			(struct sample_stack){ site->stack, frame, depth };
	}
	*ret = (uint32_t)entry->value;
	return 0;
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
	if (sample->kind != SAMPLE_ALLOCATED)
		return;
	samples->count += count;
	samples->ends[sample->end] += count;
	self->model->threads[sample->thread]->samples += count;
}

/* Sums of estimates come back to nothing, but not to the last digit. */
static uint64_t whole_bytes(double bytes)
{
	return bytes >= 0.5 ? (uint64_t)(bytes + 0.5) : 0;
}

static int site_add(struct call_view *self, const struct allocation_site *site)
{
	const struct model *model = self->model;
	struct recorded_sample sample = {
		.thread = site->thread->number,
		.time_ns = site->begin_ns - (model->first.boot_ns - model->first.monotonic_ns),
		.weight_ns = whole_bytes(site->bytes),
		.kind = SAMPLE_ALLOCATED,
		.end = (uint8_t)site->stack_end,
		.state = 'R',
	};

	if (stack_find(self, site, &sample.stack))
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

static int allocation_take(const struct call *call, void *context)
{
	return allocations_take(context, call);
}

/* The model keeps what is made. */
static int sites_add(struct call_view *self)
{
	struct samples *samples = self->model->samples;
	size_t most = 2 * (size_t)self->allocations.site_count + 1;
	int r = text_set(&samples->sampler, "limpet's trace of allocations");

	self->kept = calloc(most, sizeof(*self->kept));
	self->counts = calloc(most, sizeof(*self->counts));
	samples->kept = samples->kept_made = self->kept;
	samples->kept_counts = self->counts;
	if (r || !self->kept || !self->counts)
		return -ENOMEM;
	samples_forget(self->model);
	for (uint32_t i = 0; !r && i < self->allocations.site_count; i++)
		r = site_add(self, &self->allocations.sites[i]);
	samples->kept_count = self->count;
	return r;
}

int model_view_allocations(struct model *model)
{
	struct call_view self = { .model = model };
	int r = allocations_init(&self.allocations, model);

	self.allocations.is_by_thread = true;
	if (!r)
		r = model_each_call(model, allocation_take, &self.allocations);
	if (!r)
		r = allocations_finish(&self.allocations);
	if (!r)
		r = sites_add(&self);
	allocations_done(&self.allocations);
	table_done(&self.frames);
	table_done(&self.stacks);
	return r;
}

void allocations_describe(const struct model *model, char *ret, size_t room)
{
	const struct samples *samples = model->samples;
	uint64_t complete = samples_complete(samples);

	snprintf(ret, room,
		 "%s%" PRIu64 " bytes allocated, %" PRIu64 " not freed by the end; %" PRIu64
		 ".%02" PRIu64 " %% of the allocations have complete stacks",
		 model->alloc_sample ? "estimated from samples: " : "",
		 samples->weights_ns[SAMPLE_ALLOCATED], samples->weights_ns[SAMPLE_LIVE],
		 complete / 100, complete % 100);
}
