/*
 * Passes samples to callers.  They are copied first: no lock is held while a caller looks at them.
 */
#include "host/api/sampler.h"

#include "host/core/threads/quiet_thread.h"
#include "host/recorder/base/code_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DELIVERED_AT_ONCE 64u

/* Some samples, and their stacks; zero is none. */
struct batch {
	struct limpet_sampler *sampler;
	size_t most;    /* so many of them, */
	bool is_newest; /* the newest, or the oldest */
	uint64_t seen;  /* as for live_read_new() */
	struct limpet_sample *samples;
	struct limpet_stack *stacks;
	struct recorded_frame *frames;
	size_t count;
};

static void batch_done(struct batch *batch)
{
	free(batch->samples);
	free(batch->stacks);
	free(batch->frames);
}

static size_t depth_of(const struct samples *samples, const struct recorded_sample *sample)
{
	return sample->stack == STACK_NONE ? 0 : samples->stacks[sample->stack].depth;
}

static void frames_copy(const struct samples *samples, uint32_t stack, struct recorded_frame *ret)
{
	for (; stack != STACK_NONE; stack = samples->stacks[stack].caller) {
		const struct sample_frame *frame = &samples->frames[samples->stacks[stack].frame];

		*ret++ = (struct recorded_frame){ frame->code, frame->is_return, frame->address,
						  frame->version };
	}
}

static void sample_fill(struct limpet_sample *ret, const struct recorded_sample *sample,
			const struct model_thread *thread)
{
	*ret = (struct limpet_sample){
		.struct_size = sizeof(*ret),
		.time_ns = sample->time_ns,
		.weight_ns = sample->weight_ns,
		.pid = thread->process->pid,
		.tid = thread->tid,
		.cpu = sample->cpu,
		.kind = (enum limpet_sample_kind)sample->kind,
		.state = sample->kind == SAMPLE_BLOCKED ? (char)sample->state : 'R',
		.is_complete = sample->end == STACK_COMPLETE,
		.is_guessed = sample->flags & SAMPLE_GUESSED,
		.end = stack_end_name((enum stack_end)sample->end),
	};
	snprintf(ret->thread_name, sizeof(ret->thread_name), "%s", thread->name);
}

static int batch_fill(struct model *model, void *context)
{
	struct batch *self = context;
	const struct samples *samples = model->samples;
	const struct recorded_sample *kept = samples->kept;
	uint64_t number;
	size_t frames = 0;

	self->count = MIN(samples->kept_count, self->most);
	if (self->is_newest)
		kept += samples->kept_count - self->count;
	else
		self->seen -= samples->kept_count - self->count;
	number = self->seen - self->count;
	for (size_t i = 0; i < self->count; i++)
		frames += depth_of(samples, &kept[i]);
	self->samples = calloc(self->count + 1, sizeof(*self->samples));
	self->stacks = calloc(self->count + 1, sizeof(*self->stacks));
	self->frames = calloc(frames + 1, sizeof(*self->frames));
	if (!self->samples || !self->stacks || !self->frames)
		return -ENOMEM;
	frames = 0;
	for (size_t i = 0; i < self->count; i++) {
		struct limpet_stack *stack = &self->stacks[i];

		*stack = (struct limpet_stack){ .live = self->sampler->live,
						.frames = self->frames + frames,
						.count = depth_of(samples, &kept[i]) };
		frames_copy(samples, kept[i].stack, self->frames + frames);
		frames += stack->count;
		sample_fill(&self->samples[i], &kept[i], model->threads[kept[i].thread]);
		self->samples[i].number = number + i;
		self->samples[i].frame_count = stack->count;
		self->samples[i].stack = stack;
	}
	return 0;
}

EXPORT long limpet_sampler_read(struct limpet_sampler *self, size_t count,
				limpet_sample_visitor *visit, void *context,
				struct limpet_error *error)
{
	struct batch batch = { .sampler = self, .is_newest = true };
	struct err err = { 0 };
	uint64_t missed;

	if (!self || !visit) {
		err_set(&err, -EINVAL, "the sampler and the visitor must not be NULL");
		return api_report(&err, error);
	}
	batch.most = MIN(count, self->room);
	batch.seen = live_counts(self->live).seen;
	batch.seen -= MIN(batch.seen, (uint64_t)batch.most);
	if (live_read_new(self->live, &batch.seen, &missed, batch_fill, &batch))
		err_set(&err, -ENOMEM, "no memory for %zu samples", batch.most);
	for (size_t i = 0; !err.code && i < batch.count; i++)
		visit(&batch.samples[i], context);
	batch_done(&batch);
	return api_report(&err, error) ? err.code : (long)batch.count;
}

/* The next samples; without memory they count as missed. */
static void samples_deliver(struct limpet_sampler *self)
{
	struct batch batch = { .sampler = self,
			       .most = DELIVERED_AT_ONCE,
			       .seen = self->delivered };
	uint64_t missed = 0;
	int r = live_read_new(self->live, &batch.seen, &missed, batch_fill, &batch);

	pthread_mutex_lock(&self->lock);
	self->missed += r ? batch.seen - self->delivered : missed;
	self->delivered = batch.seen;
	pthread_mutex_unlock(&self->lock);
	for (size_t i = 0; !r && i < batch.count; i++)
		self->on_sample(&batch.samples[i], self->context);
	batch_done(&batch);
}

static void *callbacks_run(void *argument)
{
	struct limpet_sampler *self = argument;

	__atomic_store_n(&self->callback_tid, gettid(), __ATOMIC_RELAXED);
	while (live_wait(self->live, self->delivered))
		samples_deliver(self);
	__atomic_store_n(&self->callback_tid, 0, __ATOMIC_RELAXED);
	return NULL;
}

int sampler_start_callbacks(struct limpet_sampler *self, struct err *err)
{
	int r;

	if (!self->on_sample)
		return 0;
	live_open(self->live);
	r = quiet_thread(&self->callback_thread, callbacks_run, self);
	self->has_callbacks = !r;
	return r ? err_set(err, r, "start the thread that calls back: %s", strerror(-r)) : 0;
}

void sampler_stop_callbacks(struct limpet_sampler *self)
{
	live_close(self->live);
	if (self->has_callbacks)
		pthread_join(self->callback_thread, NULL);
	self->has_callbacks = false;
}

uint64_t sampler_overwritten(struct limpet_sampler *self)
{
	struct live_counts counts = live_counts(self->live);
	uint64_t overwritten;

	if (!self->on_sample)
		return counts.seen - MIN(counts.seen, (uint64_t)self->room);
	pthread_mutex_lock(&self->lock);
	overwritten = self->missed + (MAX(counts.forgotten, self->delivered) - self->delivered);
	pthread_mutex_unlock(&self->lock);
	return overwritten;
}

static int stack_names(const struct limpet_stack *stack, const struct recorded_frame *frame,
		       struct recorded_name ret[FRAME_NAMES_MAX], uint32_t *ret_count,
		       bool *ret_is_named, const char **ret_module)
{
	int r;

	if (stack->live)
		return live_name(stack->live, frame, ret, ret_count, ret_is_named, ret_module);
	pthread_mutex_lock(stack->lock);
	r = code_list_name(stack->codes, frame, /* wants_lines */ false, ret, ret_count,
			   ret_is_named);
	*ret_module = code_list_code(stack->codes, frame->code)->path;
	pthread_mutex_unlock(stack->lock);
	return r;
}

/* Without lines there is one name, that of the function which holds the code. */
static int name_frame(const struct limpet_stack *stack, size_t index, struct limpet_frame *ret,
		      struct err *err)
{
	const struct recorded_frame *frame = &stack->frames[index];
	struct recorded_name found[FRAME_NAMES_MAX];
	uint32_t count = 0;
	bool is_named = false;

	if (stack_names(stack, frame, found, &count, &is_named, &ret->module) || !count)
		return err_set(err, -ENOMEM, "names: no memory");
	ret->function = found[count - 1].function;
	ret->address = frame->address;
	ret->is_named = is_named;
	return 0;
}

EXPORT int limpet_stack_frame(const struct limpet_stack *stack, size_t index,
			      struct limpet_frame *frame, struct limpet_error *error)
{
	struct limpet_frame ours = { 0 };
	struct err err = { 0 };

	if (!stack || index >= stack->count)
		err_set(&err, -ENOENT, "there is no frame %zu", index);
	else if (!name_frame(stack, index, &ours, &err))
		api_copy_out(frame, &ours, sizeof(ours));
	return api_report(&err, error);
}
