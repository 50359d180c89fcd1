/*
 * Numbers frames and stacks.  Addresses become frames at once, while the mappings are known; names
 * wait for the end, except those of Python.
 */
#include "host/recorder/base/stack_list.h"

#include "host/core/clock.h"
#include "host/core/notes.h"
#include "host/core/room.h"
#include "host/core/self/interrupt.h"
#include "host/core/text/plural.h"
#include "host/unwind/space.h"

#include <errno.h>
#include <stdlib.h>

#define NAMES_CHUNK_BYTES (1u << 20)

void pending_add(struct pending *pending, uint32_t number)
{
	static const char head[NUMBERED_HEAD_BYTES];

	if (!pending->bytes.size) {
		pending->head = (struct numbered_head){ .first = number };
		pending->packer = (struct sample_packer){ 0 };
		bytes_put(&pending->bytes, head, sizeof(head));
	}
	pending->head.count++;
}

int pending_write(struct pending *pending, enum chunk_kind kind, struct recording *recording,
		  struct err *err)
{
	int r;

	if (!pending->head.count)
		return 0;
	numbered_set(&pending->bytes, &pending->head);
	r = recording_samples(recording, kind, &pending->bytes, err);
	pending->bytes.size = 0;
	pending->head.count = 0;
	return r;
}

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
	bytes_done(&self->new_frames.bytes);
	bytes_done(&self->new_names.bytes);
	bytes_done(&self->new_stacks.bytes);
}

/* The names of a line of Python are written with it. */
static int keep_python_name(struct stack_list *self, uint32_t number)
{
	struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count;
	bool is_named;

	if (!code_list_is_python(self->codes, &self->frames[number]))
		return 0;
	if (code_list_name(self->codes, &self->frames[number], false, names, &count, &is_named))
		return -ENOMEM;
	pending_add(&self->new_names, 0);
	names_pack(&self->new_names.bytes, number, names, count);
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
		pending_add(&self->new_frames, (uint32_t)self->frame_count);
		frame_pack(&self->new_frames.bytes, &self->new_frames.packer, frame);
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
		pending_add(&self->new_stacks, self->stack_count);
		stack_pack(&self->new_stacks.bytes, &self->new_stacks.packer, self->stack_count,
			   &(struct recorded_stack){ *stack, number });
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
		/* The innermost frame of a sample is the interrupted instruction, that of a traced
		 * call its caller. */
		bool is_return =
			i ? code_is_return(space, frames, i) : sample->flags & SAMPLE_CALLER;
		struct recorded_frame frame;

		r = code_list_find(self->codes, space, process, frames[i], is_return, &frame);
		if (!r)
			r = frame_push(self, &frame, stack);
		if (!r)
			r = make_room(&last->frames, at, &last->room, sizeof(*last->frames));
		if (r)
			break;
		last->frames[at] = (struct known_frame){ frames[i], *stack,
							 code_is_lasting(self->codes, &frame) };
		last->count = at + 1;
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

/* Lines of Python are named in the file already. */
static int put_names(const struct stack_list *self, uint32_t frame, bool wants_lines,
		     struct pending *pending, struct naming *naming)
{
	struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count;
	bool is_named;

	if (code_list_name(self->codes, &self->frames[frame], wants_lines, names, &count,
			   &is_named))
		return -ENOMEM;
	naming->frames++;
	naming->named += is_named;
	if (code_list_is_python(self->codes, &self->frames[frame]))
		return 0;
	pending_add(pending, 0);
	names_pack(&pending->bytes, frame, names, count);
	naming->without_lines += !wants_lines;
	return 0;
}

static int name_frames(struct stack_list *self, struct recording *recording, uint64_t lines_ns,
		       struct pending *pending, struct naming *naming, struct err *err)
{
	uint64_t begin_ns = thread_cpu_ns();
	int r = 0;

	code_list_follow(self->codes);
	for (; !r && self->named_count < self->frame_count; self->named_count++) {
		if (interrupt_is_waiting()) {
			note_add(
				"interrupted: %zu frame%s without names so far; limpet report looks for them",
				self->frame_count - self->named_count,
				plural(self->frame_count - self->named_count));
			break;
		}
		if (put_names(self, (uint32_t)self->named_count,
			      thread_cpu_ns() - begin_ns < lines_ns, pending, naming))
			return err_set(err, -ENOMEM, "samples: no memory");
		if (pending->bytes.size > NAMES_CHUNK_BYTES)
			r = pending_write(pending, CHUNK_NAMES, recording, err);
	}
	return r ? r : pending_write(pending, CHUNK_NAMES, recording, err);
}

int stack_list_name(struct stack_list *self, struct recording *recording, uint64_t lines_ns,
		    struct naming *ret, struct err *err)
{
	struct pending pending = { 0 };
	int r;

	*ret = (struct naming){ 0 };
	pthread_mutex_lock(&self->lock);
	r = name_frames(self, recording, lines_ns, &pending, ret, err);
	pthread_mutex_unlock(&self->lock);
	bytes_done(&pending.bytes);
	return r;
}
