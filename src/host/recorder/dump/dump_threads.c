/*
 * The threads of a dump: lists them, and keeps the stack, the state and the wait of each.
 */
#include "host/recorder/dump/dump_private.h"

#include "host/interpreter/interpreter.h"
#include "host/process/stat.h"
#include "host/recorder/base/code_list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dumped_thread *dump_thread_of(struct dump *self, uint32_t tid)
{
	for (size_t i = 0; i < self->count; i++)
		if ((uint32_t)self->threads[i].facts.tid == tid)
			return &self->threads[i];
	return NULL;
}

/* Resolves addresses while the space exists.  A stack of Python frames alone stays until a whole
 * stack with these frames replaces it. */
int dump_keep(struct dump *self, const struct sample *sample, const struct space *space)
{
	struct dumped_thread *thread = dump_thread_of(self, sample->tid);
	size_t count = (size_t)sample->kernel_count + sample->user_count;
	struct recorded_frame *frames;

	if (!thread ||
	    (thread->has_stack && !(thread->is_partial && sample_has_interpreted(sample))))
		return 0;
	frames = calloc(count + 1, sizeof(*frames));
	if (!frames || code_list_frames(self->codes, space, 0, sample, frames)) {
		free(frames);
		return -ENOMEM;
	}
	free(thread->recorded);
	thread->recorded = frames;
	thread->is_partial = false;
	thread->frame_count = count;
	thread->end = (enum stack_end)sample->end;
	thread->is_guessed = sample->flags & SAMPLE_GUESSED;
	thread->has_stack = true;
	return 0;
}

/* The state at the moment of the stack; the list of threads is older. */
void dump_note_state(struct dump *self, const struct sample *sample)
{
	struct dumped_thread *thread = dump_thread_of(self, sample->tid);

	if (thread && sample->end != STACK_NO_USER)
		thread->facts.state = sample->kind == SAMPLE_BLOCKED ? (char)sample->state : 'R';
}

void dump_note(struct dump *self, const char *format, ...)
{
	size_t length = strlen(self->reasons), room = sizeof(self->reasons) - length;
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(self->reasons + length, room, format, args);
	va_end(args);
	if (size >= 0 && (size_t)size + 1 < room)
		memcpy(self->reasons + length + size, "\n", 2);
}

static uint64_t turns_of(pid_t pid, pid_t tid)
{
	struct schedstat times;

	return schedstat_read(pid, tid, &times) ? 0 : times.turns;
}

void dump_read_wait(const struct dump *self, struct dumped_thread *thread)
{
	thread->turns = turns_of(self->pid, thread->facts.tid);
	waiting_read(self->pid, thread->facts.tid, &self->listed, &thread->waiting);
}

/* If the thread has run since, the wait and the stack are of different moments. */
void dump_settle_wait(const struct dump *self, struct dumped_thread *thread)
{
	if (thread->facts.state != 'R' && thread->turns == turns_of(self->pid, thread->facts.tid))
		return;
	thread->waiting = (struct waiting){ 0 };
	thread->facts.wait_channel[0] = '\0';
}

void dump_forget_threads(struct dump *self)
{
	for (size_t i = 0; i < self->count; i++) {
		struct dumped_thread *thread = &self->threads[i];

		for (size_t k = 0; thread->frames && k < thread->frame_count; k++)
			free(thread->frames[k].names);
		free(thread->frames);
		free(thread->recorded);
	}
	free(self->threads);
	threads_done(&self->listed);
	self->threads = NULL;
	self->listed = (struct threads){ 0 };
	self->count = 0;
}

int dump_list(struct dump *self, struct err *err)
{
	int r;

	dump_forget_threads(self);
	r = threads_read(self->pid, &self->listed, err);
	if (r)
		return r;
	self->threads = calloc(self->listed.count + 1, sizeof(*self->threads));
	if (!self->threads)
		return err_set(err, -ENOMEM, "dump: no memory");
	for (; self->count < self->listed.count; self->count++) {
		struct dumped_thread *thread = &self->threads[self->count];

		thread->facts = self->listed.items[self->count];
		memcpy(thread->name, thread->facts.name, sizeof(thread->facts.name));
		thread->end = STACK_NO_USER;
		dump_read_wait(self, thread);
	}
	return 0;
}
