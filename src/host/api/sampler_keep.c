/*
 * Keeps samples for callers of the API: frames are resolved on arrival, names on request.
 */
#include "host/api/sampler_private.h"

#include "host/core/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define FOLLOW_NS 1000000000u /* between readings of the names that runtimes give their code */

static void sampler_keep_fill(struct kept_sample *kept, const struct sample *sample,
			      const char *thread_name)
{
	struct limpet_sample *seen = &kept->seen;

	seen->time_ns = sample->time_ns;
	seen->weight_ns = sample->weight_ns;
	seen->pid = (int)sample->pid;
	seen->tid = (int)sample->tid;
	seen->cpu = sample->cpu;
	seen->kind = (enum limpet_sample_kind)sample->kind;
	seen->state = sample->kind == SAMPLE_BLOCKED ? (char)sample->state : 'R';
	seen->is_complete = sample->end == STACK_COMPLETE;
	seen->is_guessed = sample->flags & SAMPLE_GUESSED;
	seen->end = stack_end_name((enum stack_end)sample->end);
	snprintf(seen->thread_name, sizeof(seen->thread_name), "%s", thread_name);
}

/* Addresses become frames while the mappings are known. */
static int find_frames(struct limpet_sampler *self, const struct sample *sample,
		       const struct space *space, struct recorded_frame *ret)
{
	uint64_t now = now_ns();
	int r;

	pthread_mutex_lock(&self->names.lock);
	code_list_at(self->names.codes, sample->time_ns);
	r = code_list_frames(self->names.codes, space, sample->pid, sample, ret);
	if (now - self->followed_ns >= FOLLOW_NS) {
		self->followed_ns = now;
		code_list_follow(self->names.codes);
	}
	pthread_mutex_unlock(&self->names.lock);
	return r;
}

int sampler_keep(void *context, const struct sample *sample, struct space *space)
{
	struct limpet_sampler *self = context;
	size_t count = (size_t)sample->kernel_count + sample->user_count;
	struct kept_sample *kept;

	if (sample->kind >= SAMPLE_KINDS || sample->end >= STACK_ENDS)
		return 0;
	kept = kept_sample_new(count);
	if (!kept || find_frames(self, sample, space, kept->frames)) {
		free(kept);
		return 0; /* one sample less */
	}
	kept->stack.names = &self->names;
	sampler_keep_fill(
		kept, sample,
		thread_name_of(&self->thread_names, (pid_t)sample->pid, (pid_t)sample->tid));
	sample_ring_push(&self->ring, kept);
	return 0;
}
