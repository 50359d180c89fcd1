/*
 * Numbers frames and stacks.  Addresses become frames at once, while the mappings are known; names
 * wait for the end, except those of Python.
 */
#include "host/recorder/samples/stack_list.h"

#include "host/core/room.h"
#include "host/unwind/space.h"

#include <errno.h>
#include <stdlib.h>

int stack_list_init(struct stack_list *ret)
{
	*ret = (struct stack_list){ .codes = code_list_new() };
	pthread_mutex_init(&ret->lock, NULL);
	return ret->codes ? 0 : -ENOMEM;
}

void stack_list_done(struct stack_list *self)
{
	code_list_free(self->codes);
	pthread_mutex_destroy(&self->lock);
	table_done(&self->frame_numbers);
	table_done(&self->stack_numbers);
	free(self->frames);
	pending_done(&self->new_frames);
	pending_done(&self->new_names);
	pending_done(&self->new_stacks);
}

/* The names of a line of Python are written with it. */
static int keep_python_name(struct stack_list *self, uint32_t number)
{
	struct pending *pending = &self->new_names;
	struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count;
	bool is_named;

	if (!code_list_is_python(self->codes, &self->frames[number]))
		return 0;
	if (code_list_name(self->codes, &self->frames[number], false, names, &count, &is_named))
		return -ENOMEM;
	pending_begin(pending, 0);
	names_pack(&pending->bytes, number, names, count);
	pending->head.count++;
	return 0;
}

static int find_frame(struct stack_list *self, const struct recorded_frame *frame, uint32_t *ret)
{
	struct table_entry *entry;
	bool is_new;

	if (make_room(&self->frames, self->frame_count, &self->frame_room, sizeof(*self->frames)))
		return -ENOMEM;
	entry = table_make(&self->frame_numbers,
			   (uint64_t)frame->version << 40 | (uint64_t)frame->code << 1 |
				   frame->is_return,
			   frame->address, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->frame_count;
		pending_begin(&self->new_frames, (uint32_t)self->frame_count);
		frame_pack(&self->new_frames.bytes, &self->new_frames.packer, frame);
		self->new_frames.head.count++;
		self->frames[self->frame_count++] = *frame;
	}
	*ret = (uint32_t)entry->value;
	return is_new ? keep_python_name(self, *ret) : 0;
}

/* *stack is the caller's stack before, and the frame's own after. */
static int frame_push(struct stack_list *self, const struct recorded_frame *frame, uint32_t *stack)
{
	struct table_entry *entry;
	uint32_t number;
	bool is_new;

	if (find_frame(self, frame, &number))
		return -ENOMEM;
	entry = table_make(&self->stack_numbers, *stack, number, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->stack_count;
		pending_begin(&self->new_stacks, self->stack_count);
		stack_pack(&self->new_stacks.bytes, &self->new_stacks.packer, self->stack_count,
			   &(struct recorded_stack){ *stack, number });
		self->new_stacks.head.count++;
		self->stack_count++;
	}
	*stack = (uint32_t)entry->value;
	return 0;
}

/* How many of the outermost frames equal those of the thread's last stack.  The innermost of them
 * may have been reached by another call. */
static size_t count_known(const struct last_stack *last, const struct space *space,
			  const uint64_t *frames, size_t count)
{
	size_t known = 0;

	if (!last->frames || last->space != space || last->generation != space->generation)
		return 0;
	while (known < MIN(count, last->count) && last->frames[known].is_lasting &&
	       last->frames[known].address == frames[count - 1 - known])
		known++;
	return known ? known - 1 : 0;
}

static int frame_remember(struct last_stack *last, size_t at, const struct known_frame *frame)
{
	if (make_room(&last->frames, at, &last->room, sizeof(*last->frames)))
		return -ENOMEM;
	last->frames[at] = *frame;
	last->count = at + 1;
	return 0;
}

/* The innermost frame of a sample is the interrupted instruction, that of a traced call its
 * caller. */
static bool is_call(const struct sample *sample, const struct space *space, const uint64_t *frames,
		    size_t i)
{
	return i ? code_is_return(space, frames, i) : sample->flags & SAMPLE_CALLER;
}

static int push_user(struct stack_list *self, uint32_t process, const struct sample *sample,
		     const struct space *space, struct last_stack *last, uint32_t *stack)
{
	const uint64_t *frames = (const uint64_t *)sample->frames + sample->kernel_count;
	size_t count = sample->user_count, known = count_known(last, space, frames, count);
	int r = 0;

	if (known)
		*stack = last->frames[known - 1].stack;
	for (size_t at = known; !r && at < count; at++) {
		size_t i = count - 1 - at;
		bool is_return = is_call(sample, space, frames, i);
		struct recorded_frame frame;

		r = code_list_find(self->codes, space, process, frames[i], is_return, &frame);
		if (!r)
			r = frame_push(self, &frame, stack);
		if (!r)
			r = frame_remember(
				last, at,
				&(struct known_frame){ frames[i], *stack,
						       code_is_lasting(self->codes, &frame) });
	}
	last->space = space;
	last->generation = space->generation;
	return r;
}

static int push_kernel(struct stack_list *self, const struct sample *sample, uint32_t *stack)
{
	int r = 0;

	for (size_t i = sample->kernel_count; !r && i-- > 0;) {
		struct recorded_frame frame;

		r = code_list_kernel(self->codes, sample->frames[i], i > 0, &frame);
		if (!r)
			r = frame_push(self, &frame, stack);
	}
	return r;
}

int stack_list_find(struct stack_list *self, uint32_t process, const struct sample *sample,
		    const struct space *space, struct last_stack *last, uint32_t *ret)
{
	int r;

	*ret = STACK_NONE;
	pthread_mutex_lock(&self->lock);
	code_list_at(self->codes, sample->time_ns);
	r = push_user(self, process, sample, space, last, ret);
	if (!r)
		r = push_kernel(self, sample, ret);
	pthread_mutex_unlock(&self->lock);
	return r;
}

int stack_list_write(struct stack_list *self, struct recording *recording, struct err *err)
{
	int r;

	pthread_mutex_lock(&self->lock);
	r = code_list_write(self->codes, recording, err);
	if (!r)
		r = pending_write(&self->new_frames, CHUNK_FRAMES, recording, err);
	if (!r)
		r = pending_write(&self->new_names, CHUNK_NAMES, recording, err);
	if (!r)
		r = pending_write(&self->new_stacks, CHUNK_STACKS, recording, err);
	pthread_mutex_unlock(&self->lock);
	return r;
}

void stack_list_follow(struct stack_list *self)
{
	pthread_mutex_lock(&self->lock);
	code_list_follow(self->codes);
	pthread_mutex_unlock(&self->lock);
}

void stack_list_read(struct stack_list *self)
{
	pthread_mutex_lock(&self->lock);
	code_list_read(self->codes);
	pthread_mutex_unlock(&self->lock);
}
