/*
 * Joins records of kernel programs.  The same processor sends a record of frames and right after it
 * the sample that they belong to.
 */
#include "host/sampling/python_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSORS_MAX 8192u
#define MERGED_FRAMES  (KERNEL_FRAMES_MAX + SAMPLE_FRAMES_MAX + KERNEL_PYTHON_FRAMES)
#define MERGED_MAX     (2u * SAMPLE_FRAMES_MAX) /* the limit of recordings' readers */
#define HELD_BYTES \
	(sizeof(struct sample) + KERNEL_PYTHON_FRAMES * sizeof(struct kernel_python_frame))

static int make_room(struct python_stacks *self, uint32_t cpu)
{
	size_t count = (size_t)cpu + 1;
	struct sample **longer;

	if (count > self->count) {
		longer = reallocarray(self->held, count, sizeof(struct sample *));
		if (!longer)
			return -ENOMEM;
		memset(longer + self->count, 0, (count - self->count) * sizeof(struct sample *));
		self->held = longer;
		self->count = count;
	}
	if (!self->held[cpu])
		self->held[cpu] = calloc(1, HELD_BYTES);
	return self->held[cpu] ? 0 : -ENOMEM;
}

int python_stacks_hold(struct python_stacks *self, const struct sample *record)
{
	size_t size = sizeof(*record) + record->user_count * sizeof(*record->frames);

	if (record->cpu >= PROCESSORS_MAX || size > HELD_BYTES || record->kernel_count)
		return 0;
	if (make_room(self, record->cpu))
		return -ENOMEM;
	memcpy(self->held[record->cpu], record, size);
	return 0;
}

const struct sample *python_stacks_held(const struct python_stacks *self,
					const struct sample *record)
{
	const struct sample *held = record->cpu < self->count ? self->held[record->cpu] : NULL;

	return held && held->tid == record->tid && held->pid == record->pid &&
			       held->time_ns == record->time_ns
		       ? held
		       : NULL;
}

/* A copy of the sample, into which user frames are merged; NULL: no memory, or no room. */
static struct sample *copy_sample(struct python_stacks *self, const struct sample *sample,
				  size_t count)
{
	struct sample *merged = self->merged;

	if (!merged)
		merged = self->merged =
			malloc(sizeof(*merged) + MERGED_FRAMES * sizeof(*merged->frames));
	if (!merged || sample->kernel_count > KERNEL_FRAMES_MAX ||
	    sample->user_count > SAMPLE_FRAMES_MAX || count > KERNEL_PYTHON_FRAMES)
		return NULL;
	*merged = *sample;
	memcpy(merged->frames, sample->frames, sample->kernel_count * sizeof(*sample->frames));
	return merged;
}

static void set_total(struct sample *merged, size_t total)
{
	if (total > MERGED_MAX - merged->kernel_count) {
		total = MERGED_MAX - merged->kernel_count;
		merged->end = STACK_CUT;
	}
	merged->user_count = (uint16_t)total;
}

const struct sample *python_stacks_join(struct python_stacks *self, struct python *python,
					const struct sample *sample,
					const struct kernel_python_frame *frames, size_t count)
{
	struct sample *merged = copy_sample(self, sample, count);

	if (!merged)
		return sample;
	set_total(merged, python_merge(python, sample, frames, count,
				       merged->frames + merged->kernel_count));
	return merged;
}

const struct sample *python_stacks_merge_other(struct python_stacks *self,
					       struct interpreter *interpreter,
					       const struct sample *sample)
{
	const struct sample *held = python_stacks_held(self, sample);
	size_t count = held ? held->user_count / 2 : 0;
	struct sample *merged = held ? copy_sample(self, sample, count) : NULL;

	if (!merged)
		return sample;
	set_total(merged, interpreter_merge(interpreter, sample,
					    (const struct kernel_python_frame *)held->frames, count,
					    merged->frames + merged->kernel_count));
	return merged;
}

const struct sample *python_stacks_merge(struct python_stacks *self, struct python *python,
					 const struct sample *sample)
{
	const struct sample *held = python_stacks_held(self, sample);

	if (!python || !held)
		return sample;
	return python_stacks_join(self, python, sample,
				  (const struct kernel_python_frame *)held->frames,
				  held->user_count / 2);
}

void python_stacks_done(struct python_stacks *self)
{
	for (size_t i = 0; i < self->count; i++)
		free(self->held[i]);
	free(self->held);
	free(self->merged);
	*self = (struct python_stacks){ 0 };
}
