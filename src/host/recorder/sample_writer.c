/*
 * From samples to chunks.  Addresses become frames here and now, while it is known what is mapped
 * where; names wait for the end.
 */
#include "host/recorder/sample_writer.h"

#include "host/collect/facts.h"
#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/model/table.h"
#include "host/process/threads.h"
#include "host/recorder/code_list.h"
#include "host/unwind/space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMES_CHUNK_BYTES (1u << 20)

/* A list that is being filled: NUMBERED_HEAD_BYTES, then packed items. */
struct pending {
	struct bytes bytes;
	struct numbered_head head;
	struct sample_packer packer;
};

/* The outermost frames of its last stack: the next one often has the same. */
struct last_stack {
	const struct space *space;
	unsigned generation;
	size_t count, room;
	struct known_frame {
		uint64_t address;
		uint32_t stack;
		bool is_lasting; /* else another function may be at this address now */
	} * frames;              /* outermost first */
};

struct sampled_thread {
	struct recorded_thread facts;
	pid_t pid;
	char name[32];
	bool is_seen; /* since the last look */
	struct last_stack last;
};

struct sample_writer {
	struct recording *recording;
	struct programs *programs;
	struct code_list *codes;
	struct table processes;      /* (pid, 0): number */
	struct table thread_numbers; /* (process, tid): place in threads */
	struct table frame_numbers;  /* (code, version and is_return, address) */
	struct table stack_numbers;  /* (caller, frame) */
	struct sampled_thread *threads;
	size_t thread_count, thread_room;
	struct recorded_frame *frames;
	size_t frame_count, frame_room;
	size_t named_count; /* frames that have names in the file */
	uint32_t stack_count;
	struct pending new_frames, new_names, new_stacks, new_samples;
};

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "samples: no memory");
}

int sample_writer_new(struct sample_writer **ret, struct recording *recording,
		      struct programs *programs, struct err *err)
{
	struct sample_writer *self = calloc(1, sizeof(*self));
	struct table_entry *entry = NULL;
	bool is_new;

	if (self) {
		self->recording = recording;
		self->programs = programs;
		self->codes = code_list_new();
		entry = table_make(&self->processes, (uint64_t)programs->pid, 0, &is_new);
	}
	if (!entry || !self->codes) {
		sample_writer_free(self);
		return no_memory(err);
	}
	entry->value = programs->number;
	*ret = self;
	return 0;
}

void sample_writer_free(struct sample_writer *self)
{
	if (!self)
		return;
	for (size_t i = 0; i < self->thread_count; i++)
		free(self->threads[i].last.frames);
	code_list_free(self->codes);
	table_done(&self->processes);
	table_done(&self->thread_numbers);
	table_done(&self->frame_numbers);
	table_done(&self->stack_numbers);
	free(self->threads);
	free(self->frames);
	bytes_done(&self->new_frames.bytes);
	bytes_done(&self->new_names.bytes);
	bytes_done(&self->new_stacks.bytes);
	bytes_done(&self->new_samples.bytes);
	free(self);
}

/* Room for a head comes first. */
static void begin_pending(struct pending *pending, uint32_t first)
{
	static const char head[NUMBERED_HEAD_BYTES];

	if (pending->bytes.size)
		return;
	pending->head = (struct numbered_head){ .first = first };
	pending->packer = (struct sample_packer){ 0 };
	bytes_put(&pending->bytes, head, sizeof(head));
}

static int write_pending(struct sample_writer *self, enum chunk_kind kind, struct pending *pending,
			 struct err *err)
{
	int r;

	if (!pending->head.count)
		return 0;
	numbered_set(&pending->bytes, &pending->head);
	r = recording_samples(self->recording, kind, &pending->bytes, err);
	pending->bytes.size = 0;
	pending->head.count = 0;
	return r;
}

int sample_writer_flush(struct sample_writer *self, struct err *err)
{
	int r = code_list_write(self->codes, self->recording, err);

	if (!r)
		r = write_pending(self, CHUNK_FRAMES, &self->new_frames, err);
	if (!r)
		r = write_pending(self, CHUNK_NAMES, &self->new_names, err);
	if (!r)
		r = write_pending(self, CHUNK_STACKS, &self->new_stacks, err);
	if (!r)
		r = write_pending(self, CHUNK_SAMPLES, &self->new_samples, err);
	return r;
}

static int add_thread(struct sample_writer *self, uint32_t process, const struct sample *sample,
		      struct err *err)
{
	struct sampled_thread thread = {
		.facts = { .process = process, .tid = (int32_t)sample->tid },
		.pid = (pid_t)sample->pid,
	};
	int r;

	if (make_room(&self->threads, self->thread_count, &self->thread_room,
		      sizeof(*self->threads)))
		return no_memory(err);
	thread_read_name(thread.pid, thread.facts.tid, thread.name, sizeof(thread.name));
	thread.facts.name = thread.name;
	r = recording_thread(self->recording, &thread.facts, err);
	if (!r)
		self->threads[self->thread_count++] = thread;
	return r;
}

/* Where the thread is in our list. */
static int find_thread(struct sample_writer *self, const struct sample *sample, size_t *ret,
		       struct err *err)
{
	const struct table_entry *process = table_find(&self->processes, sample->pid, 0);
	struct table_entry *entry;
	bool is_new;
	int r = 0;

	if (!process) {
		r = sample_writer_process(self, (pid_t)sample->pid, err);
		process = table_find(&self->processes, sample->pid, 0);
	}
	if (r || !process)
		return r ? r : -ESRCH;
	entry = table_make(&self->thread_numbers, process->value, sample->tid, &is_new);
	if (!entry)
		return no_memory(err);
	if (is_new) {
		entry->value = self->thread_count;
		r = add_thread(self, (uint32_t)process->value, sample, err);
		if (r)
			table_remove(&self->thread_numbers, entry);
	}
	*ret = (size_t)entry->value;
	return r;
}

/* One that has ended already is known by its number only. */
int sample_writer_process(struct sample_writer *self, pid_t pid, struct err *err)
{
	struct recorded_process bare = {
		.pid = pid, .name = "", .executable = "", .command = "", .folder = ""
	};
	struct table_entry *entry;
	struct err ignored = { 0 };
	uint32_t number;
	bool is_new;
	int r = pid == self->programs->pid
			? programs_number(self->programs, &number, &ignored)
			: facts_process(self->recording, pid,
					/* with_files */ false, &number, &ignored);

	if (r) {
		r = recording_process(self->recording, &bare, err);
		number = bare.number;
	}
	entry = r ? NULL : table_make(&self->processes, (uint64_t)pid, 0, &is_new);
	if (!entry)
		return r ? r : no_memory(err);
	entry->value = number;
	return 0;
}

/* The names of a line of Python go into the file with it. */
static int keep_python_name(struct sample_writer *self, uint32_t number)
{
	struct pending *pending = &self->new_names;
	struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count;
	bool is_named;

	if (!code_list_is_python(self->codes, &self->frames[number]))
		return 0;
	if (code_list_name(self->codes, &self->frames[number], false, names, &count, &is_named))
		return -ENOMEM;
	begin_pending(pending, 0);
	names_put(&pending->bytes, number, names, count);
	pending->head.count++;
	return 0;
}

static int find_frame(struct sample_writer *self, const struct recorded_frame *frame, uint32_t *ret)
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
		begin_pending(&self->new_frames, (uint32_t)self->frame_count);
		frame_put(&self->new_frames.bytes, &self->new_frames.packer, frame);
		self->new_frames.head.count++;
		self->frames[self->frame_count++] = *frame;
	}
	*ret = (uint32_t)entry->value;
	return is_new ? keep_python_name(self, *ret) : 0;
}

/* The stack of its caller becomes its own. */
static int push(struct sample_writer *self, const struct recorded_frame *frame, uint32_t *stack)
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
		begin_pending(&self->new_stacks, self->stack_count);
		stack_put(&self->new_stacks.bytes, &self->new_stacks.packer, self->stack_count,
			  &(struct recorded_stack){ *stack, number });
		self->new_stacks.head.count++;
		self->stack_count++;
	}
	*stack = (uint32_t)entry->value;
	return 0;
}

/* How many of the outermost frames are those of the thread's last stack.  The innermost of them may
 * have been reached otherwise. */
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

static int remember(struct last_stack *last, size_t at, const struct known_frame *frame)
{
	if (make_room(&last->frames, at, &last->room, sizeof(*last->frames)))
		return -ENOMEM;
	last->frames[at] = *frame;
	last->count = at + 1;
	return 0;
}

static int push_user(struct sample_writer *self, struct sampled_thread *thread,
		     const struct sample *sample, const struct space *space, uint32_t *stack)
{
	const uint64_t *frames = (const uint64_t *)sample->frames + sample->kernel_count;
	struct last_stack *last = &thread->last;
	size_t count = sample->user_count, known = count_known(last, space, frames, count);
	int r = 0;

	if (known)
		*stack = last->frames[known - 1].stack;
	for (size_t at = known; !r && at < count; at++) {
		size_t i = count - 1 - at;
		bool is_return = code_is_return(space, frames, i);
		struct recorded_frame frame;

		r = code_list_find(self->codes, space, thread->facts.process, frames[i], is_return,
				   &frame);
		if (!r)
			r = push(self, &frame, stack);
		if (!r)
			r = remember(last, at,
				     &(struct known_frame){ frames[i], *stack,
							    code_is_lasting(self->codes, &frame) });
	}
	last->space = space;
	last->generation = space->generation;
	return r;
}

static int push_kernel(struct sample_writer *self, const struct sample *sample, uint32_t *stack)
{
	int r = 0;

	for (size_t i = sample->kernel_count; !r && i-- > 0;) {
		struct recorded_frame frame;

		r = code_list_kernel(self->codes, sample->frames[i], i > 0, &frame);
		if (!r)
			r = push(self, &frame, stack);
	}
	return r;
}

static void put_sample(struct sample_writer *self, const struct sample *sample, uint32_t thread,
		       uint32_t stack)
{
	struct pending *pending = &self->new_samples;

	begin_pending(pending, 0);
	sample_put(&pending->bytes, &pending->packer,
		   &(struct recorded_sample){ .thread = thread,
					      .stack = stack,
					      .time_ns = sample->time_ns,
					      .weight_ns = sample->weight_ns,
					      .cpu = sample->cpu,
					      .kind = sample->kind,
					      .end = sample->end,
					      .flags = sample->flags,
					      .state = sample->state });
	pending->head.count++;
}

int sample_writer_take(struct sample_writer *self, const struct sample *sample,
		       const struct space *space, struct err *err)
{
	uint32_t stack = STACK_NONE;
	struct sampled_thread *thread;
	size_t place = 0;
	int r;

	if (sample->kind >= SAMPLE_KINDS || sample->end >= STACK_ENDS)
		return 0;
	r = find_thread(self, sample, &place, err);
	if (r)
		return r;
	thread = &self->threads[place];
	thread->is_seen = true;
	code_list_at(self->codes, sample->time_ns);
	r = push_user(self, thread, sample, space, &stack);
	if (!r)
		r = push_kernel(self, sample, &stack);
	if (r)
		return no_memory(err);
	put_sample(self, sample, thread->facts.number, stack);
	return 0;
}

static int look_at_thread(struct sample_writer *self, struct sampled_thread *thread,
			  struct err *err)
{
	char name[sizeof(thread->name)];

	if (!thread->is_seen)
		return 0;
	thread->is_seen = false;
	memcpy(name, thread->name, sizeof(name));
	thread_read_name(thread->pid, thread->facts.tid, thread->name, sizeof(thread->name));
	thread->facts.name = thread->name;
	return strcmp(name, thread->name) ? recording_rename(self->recording, &thread->facts, err)
					  : 0;
}

void sample_writer_prepare(struct sample_writer *self)
{
	code_list_read(self->codes);
}

int sample_writer_look(struct sample_writer *self, struct err *err)
{
	int r = 0;

	code_list_follow(self->codes);
	for (size_t i = 0; !r && i < self->thread_count; i++)
		r = look_at_thread(self, &self->threads[i], err);
	return r;
}

uint64_t sample_writer_threads(const struct sample_writer *self)
{
	return self->thread_count;
}

static int write_names(struct sample_writer *self, struct bytes *bytes, uint32_t *count,
		       struct err *err)
{
	int r;

	if (!*count)
		return 0;
	numbered_set(bytes, &(struct numbered_head){ 0, *count });
	r = recording_samples(self->recording, CHUNK_NAMES, bytes, err);
	bytes->size = NUMBERED_HEAD_BYTES;
	*count = 0;
	return r;
}

/* Lines of Python have theirs in the file. */
static int put_names(struct sample_writer *self, struct bytes *bytes, uint32_t frame,
		     bool wants_lines, uint32_t *count_put, struct naming *naming)
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
	names_put(bytes, frame, names, count);
	++*count_put;
	naming->without_lines += !wants_lines;
	return 0;
}

/* Of this thread: a busy machine does not make it late. */
static uint64_t own_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int sample_writer_names(struct sample_writer *self, uint64_t lines_ns, struct naming *ret,
			struct err *err)
{
	static const char head[NUMBERED_HEAD_BYTES];
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	uint64_t begin_ns = own_time_ns();
	uint32_t count = 0;
	int r = 0;

	*ret = (struct naming){ 0 };
	bytes_put(&bytes, head, sizeof(head));
	code_list_follow(self->codes);
	for (; !r && self->named_count < self->frame_count; self->named_count++) {
		if (put_names(self, &bytes, (uint32_t)self->named_count,
			      own_time_ns() - begin_ns < lines_ns, &count, ret))
			return no_memory(err);
		if (bytes.size > NAMES_CHUNK_BYTES)
			r = write_names(self, &bytes, &count, err);
	}
	return r ? r : write_names(self, &bytes, &count, err);
}
