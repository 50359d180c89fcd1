/*
 * Joins frames of interpreters with their samples.  In kernel programs, the same processor sends a
 * record of frames and right after it the sample that they belong to.
 */
#include "host/sampling/interpreter_stacks.h"

#include "host/process/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSORS_MAX 8192u
#define MERGED_FRAMES  (KERNEL_FRAMES_MAX + SAMPLE_FRAMES_MAX + INTERPRETED_FRAMES_MAX)
#define MERGED_MAX     (2u * SAMPLE_FRAMES_MAX) /* the limit of recordings' readers */
#define HELD_BYTES \
	(sizeof(struct sample) + INTERPRETED_FRAMES_MAX * sizeof(struct interpreted_frame))

int interpreter_stacks_hold(struct interpreter_stacks *self, const struct sample *record)
{
	size_t size = sizeof(*record) + record->user_count * sizeof(*record->frames);
	size_t count = (size_t)record->cpu + 1;
	struct sample **longer;

	if (record->cpu >= PROCESSORS_MAX || size > HELD_BYTES || record->kernel_count)
		return 0;
	if (count > self->count) {
		longer = reallocarray(self->held, count, sizeof(struct sample *));
		if (!longer)
			return -ENOMEM;
		memset(longer + self->count, 0, (count - self->count) * sizeof(struct sample *));
		self->held = longer;
		self->count = count;
	}
	if (!self->held[record->cpu])
		self->held[record->cpu] = calloc(1, HELD_BYTES);
	if (!self->held[record->cpu])
		return -ENOMEM;
	memcpy(self->held[record->cpu], record, size);
	return 0;
}

const struct sample *interpreter_stacks_held(const struct interpreter_stacks *self,
					     const struct sample *record)
{
	const struct sample *held = record->cpu < self->count ? self->held[record->cpu] : NULL;

	return held && held->tid == record->tid && held->pid == record->pid &&
			       held->time_ns == record->time_ns
		       ? held
		       : NULL;
}

const struct sample *interpreter_stacks_join(struct interpreter_stacks *self,
					     struct interpreter *interpreter,
					     const struct sample *sample,
					     const struct interpreted_frame *frames, size_t count)
{
	struct sample *merged = self->merged;
	size_t total;

	if (!merged)
		merged = self->merged =
			malloc(sizeof(*merged) + MERGED_FRAMES * sizeof(*merged->frames));
	if (!merged || sample->kernel_count > KERNEL_FRAMES_MAX ||
	    sample->user_count > SAMPLE_FRAMES_MAX || count > INTERPRETED_FRAMES_MAX)
		return sample;
	*merged = *sample;
	memcpy(merged->frames, sample->frames, sample->kernel_count * sizeof(*sample->frames));
	total = interpreter_merge(interpreter, sample, frames, count,
				  merged->frames + merged->kernel_count);
	if (total > MERGED_MAX - merged->kernel_count) {
		total = MERGED_MAX - merged->kernel_count;
		merged->end = STACK_CUT;
	}
	merged->user_count = (uint16_t)total;
	return merged;
}

const struct sample *interpreter_stacks_merge(struct interpreter_stacks *self,
					      struct interpreter *interpreter,
					      const struct sample *sample)
{
	const struct sample *held = interpreter_stacks_held(self, sample);

	if (!interpreter || !held)
		return sample;
	return interpreter_stacks_join(self, interpreter, sample,
				       (const struct interpreted_frame *)held->frames,
				       held->user_count / 2);
}

void interpreter_stacks_done(struct interpreter_stacks *self)
{
	for (size_t i = 0; i < self->count; i++)
		free(self->held[i]);
	free(self->held);
	free(self->merged);
	*self = (struct interpreter_stacks){ 0 };
}

static const char *why_unknown(const struct interpreter *interpreter)
{
	return interpreter_threads(interpreter)->why_unknown(interpreter);
}

void outside_frames_explain(const struct space *space, const struct interpreter *interpreter, int r,
			    const struct err *err, char *why, size_t room)
{
	const char *unknown = interpreter ? why_unknown(interpreter) : NULL;
	const char *unseen = interpreter ? NULL : interpreter_title_in(space, false);

	why[0] = '\0';
	if (r && r != -ENOENT)
		snprintf(why, room, "%s", err->what);
	else if (unknown)
		snprintf(why, room, "%s", unknown);
	else if (unseen)
		snprintf(why, room, "%s functions are not seen, native frames only", unseen);
}

void outside_frames_open(struct outside_frames *ret, const struct space *space, char *why,
			 size_t room)
{
	struct interpreter *interpreter = NULL;
	struct err err = { 0 };
	int r = interpreter_open(&interpreter, space, space->pid, READER_OUTSIDE, &err);

	*ret = (struct outside_frames){ 0 };
	outside_frames_explain(space, interpreter, r, &err, why, room);
	outside_frames_use(ret, interpreter);
	if (!ret->interpreter)
		interpreter_close(interpreter);
}

void outside_frames_use(struct outside_frames *self, struct interpreter *interpreter)
{
	self->count = 0;
	self->interpreter = interpreter && !why_unknown(interpreter) ? interpreter : NULL;
}

void outside_frames_read(struct outside_frames *self, pid_t pid, pid_t tid)
{
	if (self->interpreter)
		self->count = interpreter_threads(self->interpreter)
				      ->read_frames(self->interpreter, inner_number(pid, tid),
						    self->frames, ARRAY_SIZE(self->frames));
}

const struct sample *outside_frames_join(struct outside_frames *self, const struct sample *sample)
{
	if (!self->interpreter || !self->count)
		return sample;
	return interpreter_stacks_join(&self->stacks, self->interpreter, sample, self->frames,
				       self->count);
}
