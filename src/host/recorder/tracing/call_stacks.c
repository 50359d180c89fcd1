/*
 * Reads the process's memory, stops nothing.  After the first search, on the collector's thread
 * only.
 */
#include "host/recorder/tracing/call_stacks.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/notes.h"
#include "host/interpreter/interpreter.h"
#include "host/interpreter/locations.h"
#include "host/process/maps.h"
#include "host/unwind/space.h"

#include <stdio.h>
#include <stdlib.h>

#define LOOK_NS 1000000000u

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

static void python_look(struct call_stacks *self)
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
	python_look(self);
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
		python_look(self);
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

struct interpreter *call_stacks_python(struct call_stacks *stacks)
{
	return stacks->python;
}

struct collect_stacks call_stacks_source(struct call_stacks *stacks)
{
	return (struct collect_stacks){ thread_find, frames_print, stacks };
}
