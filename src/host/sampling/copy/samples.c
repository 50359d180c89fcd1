/*
 * Walks copied stacks for the sampler "copy".
 */
#include <string.h>

#include "host/core/clock.h"
#include "host/sampling/copy/copied_stack.h"
#include "host/sampling/copy/copy.h"

#define LATE_NS 20000000u /* interpreted frames of an older sample belong to a later moment */

/* An unknown process was forked at a moment without a record. */
struct followed *copy_process_of(struct copy_round *round, pid_t pid)
{
	struct copy_sampler *self = round->self;
	struct followed *process = followed_find(&self->processes, pid);

	if (process || !self->options.children ||
	    followed_add_child(&self->processes, pid, self->options.pid, &process))
		return process;
	round->listener->process(
		round->listener->context,
		&(struct sampled_process){ .pid = pid, .parent = self->options.pid });
	return process;
}

static struct walk_result walk_once(struct copy_sampler *self, const struct perf_sample *from,
				    const struct space *space, struct copied_stack *stack)
{
	const struct memory_reader reader = { copied_stack_read, stack };

	copied_stack_begin(stack);
	return stack_walk(space, &from->registers, &reader,
			  self->sample->frames + from->kernel_count, SAMPLE_FRAMES_MAX);
}

/* The kernel copies up to the first page that is not present: a large buffer that was never written
 * may have many. */
static void fill_hole(const struct copy_sampler *self, const struct copied_stack *stack)
{
	uint64_t wanted = self->events.attrs.items[COPY_CLOCK].sample_stack_user;
	uint64_t sp = stack->sample->registers.sp;

	if (stack->use.deepest > stack->sample->stack_size && stack->sample->stack_size < wanted)
		live_memory_touch(stack->beyond.pid, sp + stack->sample->stack_size,
				  sp + MIN(stack->use.deepest, wanted));
}

/* A stack that leaves known code may be in code mapped since. */
static struct walk_result walk_copy(struct copy_sampler *self, const struct perf_sample *from,
				    struct followed *process, bool *ret_guessed)
{
	struct copied_stack stack = { .sample = from, .beyond.pid = process->pid };
	struct walk_result result = walk_once(self, from, process->space, &stack);
	struct stack_use use;

	if ((result.end == STACK_NO_MAP || result.end == STACK_NO_TABLE) && followed_retry(process))
		result = walk_once(self, from, process->space, &stack);
	if (stack.beyond.was_read && !copied_stack_stands(&stack)) {
		/* Only within the copy; what is needed beyond it is known already. */
		use = stack.use;
		stack.is_shut = true;
		result = walk_once(self, from, process->space, &stack);
		stack.use = use;
	}
	/* Memory beyond the copy was read later: by then it may have held another stack. */
	if (stack.beyond.was_read && (result.end == STACK_NO_MAP || result.end == STACK_NO_TABLE ||
				      result.end == STACK_CIRCULAR || result.end == STACK_ZERO))
		result.end = STACK_UNREADABLE;
	stack.use.is_cut = result.end == STACK_UNREADABLE;
	stack_need_note(&self->need, &stack.use);
	fill_hole(self, &stack);
	*ret_guessed = stack.beyond.was_read || result.is_guessed;
	return result;
}

void copy_walk(struct copy_sampler *self, const struct perf_sample *from, struct followed *process)
{
	struct walk_result result = { .end = STACK_NO_USER };
	bool is_guessed = false;

	followed_read_first(process);
	if (from->kernel_count)
		memcpy(self->sample->frames, from->kernel, from->kernel_count * sizeof(uint64_t));
	if (from->has_user)
		result = walk_copy(self, from, process, &is_guessed);
	self->sample->kernel_count = (uint16_t)from->kernel_count;
	self->sample->user_count = (uint16_t)result.count;
	self->sample->end = (uint8_t)result.end;
	self->sample->flags = is_guessed ? SAMPLE_GUESSED : 0;
}

bool copy_use_outside(struct copy_sampler *self, struct followed *process)
{
	followed_use_outside(process, &self->outside, &self->base);
	if (self->outside.interpreter && !self->has_interpreter) {
		self->has_interpreter = true;
		sampler_limit(&self->base,
			      "%s functions are read a moment after the sample is taken",
			      interpreter_title(self->outside.interpreter));
	}
	return self->outside.interpreter;
}

/* Interpreted frames are not on the copied stack, and change: they are read as soon as the sample
 * arrives, or not at all. */
void copy_add_interpreted(struct copy_sampler *self, struct followed *process, pid_t tid,
			  uint64_t time_ns)
{
	const struct sample *joined;

	if (!copy_use_outside(self, process) || self->sample->end == STACK_NO_USER ||
	    now_ns() - time_ns > LATE_NS)
		return;
	outside_frames_read(&self->outside, process->pid, tid);
	joined = outside_frames_join(&self->outside, self->sample);
	if (joined != self->sample)
		memcpy(self->sample, joined,
		       sizeof(*joined) + ((size_t)joined->kernel_count + joined->user_count) *
						 sizeof(*joined->frames));
}

void copy_emit(struct copy_round *round, struct followed *process)
{
	struct copy_sampler *self = round->self;

	self->counts.samples++;
	self->counts.ends[self->sample->end]++;
	round->listener->sample(round->listener->context, self->sample, process->space);
}
