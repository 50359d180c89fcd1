/*
 * Turns the return addresses of a traced call into a stack of the recording.  Mappings are resolved
 * on arrival, a few milliseconds after the call: code that is unmapped later keeps its names.
 * Python's frames are read from the process's memory, nothing is stopped.
 */
#include "host/recorder/tracing/callers.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/notes.h"
#include "host/interpreter/interpreter.h"
#include "host/interpreter/locations.h"
#include "host/process/maps.h"
#include "host/sampling/interpreter_stacks.h"
#include "host/unwind/linked_frames.h"
#include "host/unwind/space.h"
#include "host/unwind/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLERS_KNOWN 4096u
#define WRITE_NS      50000000u /* stacks reach the file about as early as their calls */
#define FOLLOW_NS     1000000000u
/* A stack in no code must not cost a reading of all mappings each time. */
#define REFRESH_NS 100000000u
#define LOOK_NS    1000000000u

struct call_stacks {
	pid_t pid;
	struct interpreter *python; /* NULL: none was found yet */
	uint64_t looked_ns;
	bool is_allowed;
	const char *whose; /* named in notes if frames cannot be read */
};

/* Maps only modules that may hold Python: unwind tables of all others would take long. */
static int space_of_python(pid_t pid, struct space **ret, struct err *err)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	int r = maps_read(pid, &maps, err);

	if (!r)
		r = space_fork(ret, NULL, pid);
	for (size_t i = 0; !r && i < maps.count; i++)
		if (maps.items[i].executable && interpreter_uses_file(maps.items[i].path))
			r = space_map(*ret, &maps.items[i]);
	return r;
}

static void python_search(struct call_stacks *self)
{
	struct space *space = NULL;
	struct err err = { 0 };
	int r = space_of_python(self->pid, &space, &err);

	self->looked_ns = now_ns();
	if (!r)
		r = interpreter_open(&self->python, space, self->pid, READER_OUTSIDE, &err);
	if (r)
		self->python = NULL;
	if (r && err.code)
		note_add("%s of %d have no stacks of Python: %s", self->whose, (int)self->pid,
			 err.what);
	if (self->python && interpreter_threads(self->python)->why_unknown(self->python)) {
		note_add(
			"%s of %d have no stacks of Python: they need Python 3.11 or later, or a C "
			"library that tells where a thread's number is (glibc)",
			self->whose, (int)self->pid);
		interpreter_close(self->python);
		self->python = NULL;
	}
	space_close(space);
}

struct call_stacks *call_stacks_new(pid_t pid, const char *whose)
{
	struct call_stacks *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->pid = pid;
	self->whose = whose;
	python_search(self);
	return self;
}

void call_stacks_free(struct call_stacks *stacks)
{
	if (!stacks)
		return;
	interpreter_close(stacks->python);
	free(stacks);
}

void call_stacks_set_allowed(struct call_stacks *stacks, bool is_allowed)
{
	__atomic_store_n(&stacks->is_allowed, is_allowed, __ATOMIC_RELEASE);
}

static bool thread_find(void *context, int32_t tid, struct python_place *ret)
{
	struct call_stacks *self = context;

	if (!__atomic_load_n(&self->is_allowed, __ATOMIC_ACQUIRE))
		return false;
	if (!self->python && now_ns() - self->looked_ns >= LOOK_NS)
		python_search(self);
	if (!self->python)
		return false;
	ret->layout = &interpreter_walk_layout(self->python)->python;
	return interpreter_threads(self->python)
		->find(self->python, tid, &ret->state, &ret->identity);
}

static size_t frame_print(struct call_stacks *self, const struct interpreted_frame *frame,
			  char *ret, size_t room)
{
	struct language_location location;
	int length;

	if (!language_location_find(interpreter_location(self->python, frame), &location))
		return 0;
	length = snprintf(ret, room, "%s\t%s\t%u\n", location.function, location.file,
			  location.line);
	return length > 0 && (size_t)length < room ? (size_t)length : 0;
}

static size_t frames_print(void *context, const struct interpreted_frame *frames, size_t count,
			   char *ret, size_t room)
{
	struct call_stacks *self = context;
	size_t length = 0;

	for (size_t i = 0; self->python && i < count; i++)
		length += frame_print(self, &frames[i], ret + length, room - length);
	return length;
}

struct collect_stacks call_stacks_source(struct call_stacks *stacks)
{
	return (struct collect_stacks){ thread_find, frames_print, stacks };
}

/* Empty while its number's head is 0. */
struct known_caller {
	uint64_t address;
	struct record_stack_number number;
};

struct callers {
	struct programs *programs;
	uint32_t process;
	struct space *space;
	struct last_stack last;
	uint64_t refreshed_ns, followed_ns, written_ns;
	struct sample *sample;           /* with room for the maximum of frames */
	struct call_stacks *call_stacks; /* NULL: no frames of Python */
	struct interpreter_stacks interpreter_stacks;
	struct known_caller known[CALLERS_KNOWN];
};

int callers_new(struct callers **ret, struct programs *programs, pid_t pid, uint32_t process,
		struct call_stacks *stacks, struct err *err)
{
	struct callers *self = calloc(1, sizeof(*self));
	int r;

	if (self)
		self->sample =
			calloc(1, sizeof(*self->sample) +
					  SAMPLE_FRAMES_MAX * sizeof(self->sample->frames[0]));
	if (!self || !self->sample) {
		callers_free(self);
		return err_set(err, -ENOMEM, "no memory for stacks");
	}
	self->programs = programs;
	self->process = process;
	self->call_stacks = stacks;
	self->sample->pid = (uint32_t)pid;
	self->sample->flags = SAMPLE_CALLER;
	r = space_open(&self->space, pid, err);
	if (r)
		callers_free(self);
	else
		*ret = self;
	return r;
}

void callers_free(struct callers *callers)
{
	if (!callers)
		return;
	interpreter_stacks_done(&callers->interpreter_stacks);
	space_close(callers->space);
	free(callers->last.frames);
	free(callers->sample);
	free(callers);
}

/* Whether all addresses lie in known code: a library may have been loaded since. */
static bool are_mapped(const struct callers *self)
{
	const struct sample *sample = self->sample;

	for (unsigned i = 0; i < sample->user_count; i++)
		if (!space_find(self->space, sample->frames[i] - 1))
			return false;
	return true;
}

/* True: more may be mapped now than before. */
static bool space_follow(struct callers *self)
{
	struct err ignored = { 0 };
	uint64_t now = now_ns();

	if (now - self->refreshed_ns < REFRESH_NS)
		return false;
	self->refreshed_ns = now;
	return !space_merge(self->space, &ignored);
}

/* After a change of mappings, other code may be at these addresses. */
static void known_forget(struct callers *self)
{
	memset(self->known, 0, sizeof(self->known));
}

/* Once a second: another library may have replaced one at its addresses, and runtimes name their
 * code while they run. */
static void code_follow(struct callers *self)
{
	uint64_t now = self->sample->time_ns;

	if (now - self->followed_ns < FOLLOW_NS)
		return;
	self->followed_ns = now;
	(void)!space_follow(self);
	known_forget(self);
	stack_list_follow(&self->programs->stacks);
}

static int sample_number(struct callers *self, const struct sample *sample,
			 struct record_stack_number *ret, struct err *err)
{
	*ret = (struct record_stack_number){
		.head = { sizeof(*ret), RECORD_STACK_NUMBER, sample->end },
	};
	if (stack_list_find(&self->programs->stacks, self->process, sample, self->space,
			    &self->last, &ret->stack))
		return err_set(err, -ENOMEM, "stacks: no memory");
	if (sample->time_ns - self->written_ns < WRITE_NS)
		return 0;
	self->written_ns = now_ns();
	return stack_list_write(&self->programs->stacks, self->programs->recording, err);
}

/* Copies the addresses into the sample, and updates the mappings if one is in no known code. */
static void frames_copy(struct callers *self, const uint64_t *frames, size_t count)
{
	struct sample *sample = self->sample;

	sample->time_ns = now_ns();
	sample->user_count = (uint16_t)MIN(count, (size_t)SAMPLE_FRAMES_MAX);
	memcpy(sample->frames, frames, sample->user_count * sizeof(*frames));
	if (!are_mapped(self) && space_follow(self))
		known_forget(self);
	code_follow(self);
}

/* With its frames of Python, where there are any.  They are merged from the outermost on, in stacks
 * that are complete and of which no frame was cut. */
static int stack_number(struct callers *self, const struct collect_stack *stack,
			struct record_stack_number *ret, struct err *err)
{
	struct interpreter *python = self->call_stacks ? self->call_stacks->python : NULL;
	const struct sample *sample = self->sample;

	if (python && !stack->python_count && sample->end == STACK_COMPLETE &&
	    interpreter_runs_in(python, sample))
		self->sample->end = STACK_NO_PYTHON;
	if (!python || !stack->python_count)
		return sample_number(self, sample, ret, err);
	if (stack->is_python_cut && sample->end == STACK_COMPLETE)
		self->sample->end = STACK_CUT;
	return sample_number(self,
			     interpreter_stacks_join(&self->interpreter_stacks, python, sample,
						     stack->python, stack->python_count),
			     ret, err);
}

static int number_frames(void *context, const struct collect_stack *stack,
			 struct record_stack_number *ret, struct err *err)
{
	struct callers *self = context;
	struct sample *sample = self->sample;
	size_t kept;

	frames_copy(self, stack->frames, stack->frame_count);
	sample->end = linked_frames_end(self->space, stack->frames, sample->user_count,
					RECORD_FRAMES_MAX, &kept);
	sample->user_count = (uint16_t)kept;
	return stack_number(self, stack, ret, err);
}

/* The coarse clock costs 5 ns.  It may lag CLOCK_MONOTONIC by a tick. */
static bool is_fresh(const struct callers *self)
{
	return clock_read_ns(CLOCK_MONOTONIC_COARSE) < self->followed_ns + FOLLOW_NS;
}

/* Millions of calls per second come from few addresses: each number is cached for a second. */
static int number_caller(void *context, uint64_t address, struct record_stack_number *ret,
			 struct err *err)
{
	struct callers *self = context;
	struct known_caller *known = &self->known[address / 4 % CALLERS_KNOWN];
	int r;

	if (known->address == address && known->number.head.size && is_fresh(self)) {
		*ret = known->number;
		return 0;
	}
	frames_copy(self, &address, 1);
	self->sample->end = STACK_CALLER;
	r = sample_number(self, self->sample, ret, err);
	if (!r)
		*known = (struct known_caller){ address, *ret };
	return r;
}

/* A copy of stack memory, in which the walk reads. */
struct copy {
	uint64_t begin;
	const unsigned char *bytes;
	size_t size;
};

static int copy_read(void *context, uint64_t address, void *into, size_t size)
{
	const struct copy *copy = context;
	uint64_t at = address - copy->begin;

	if (at > copy->size || copy->size - at < size)
		return -EFAULT;
	memcpy(into, copy->bytes + at, size);
	return 0;
}

static void caller_walk(struct callers *self, const struct record_stack_part *caller,
			struct copy *copy)
{
	const struct memory_reader reader = { copy_read, copy };
	const struct walk_registers registers = {
		.pc = caller->pc, .sp = caller->sp, .fp = caller->fp, .is_lr_unknown = true
	};
	struct walk_result result =
		stack_walk_on(self->space, &registers, /* is_exact */ false, &reader,
			      self->sample->frames, 1, SAMPLE_FRAMES_MAX);

	self->sample->user_count = (uint16_t)result.count;
	self->sample->end = result.end;
}

static int number_copy(void *context, const struct collect_stack *stack,
		       struct record_stack_number *ret, struct err *err)
{
	struct callers *self = context;
	const struct record_stack_part *caller = stack->caller;
	struct copy copy = { caller->sp, stack->copy, stack->size };

	self->sample->time_ns = now_ns();
	code_follow(self);
	caller_walk(self, caller, &copy);
	if (self->sample->end == STACK_NO_MAP && space_follow(self)) {
		known_forget(self);
		caller_walk(self, caller, &copy);
	}
	return stack_number(self, stack, ret, err);
}

struct collect_callers callers_source(struct callers *callers)
{
	return (struct collect_callers){ number_frames, number_caller, number_copy, callers };
}

const struct space *callers_space(const struct callers *callers)
{
	return callers->space;
}

int callers_finish(struct callers *callers, struct err *err)
{
	return stack_list_write(&callers->programs->stacks, callers->programs->recording, err);
}
