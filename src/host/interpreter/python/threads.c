/*
 * Reads the threads of Python from outside: their frames, and the interpreter's lock.  Frames are
 * valid while the thread sleeps.  A running thread changes them meanwhile: most of them are in one
 * piece of memory, which is copied at once, and the thread must be in the same frame afterwards, or
 * it is read again.  Before 3.11 each is a separate object: see is_steady().
 */
#include "host/interpreter/python/python.h"

#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/process/memory.h"

#include <sys/uio.h>

#define STEPS_MAX    4096u /* threads and interpreters */
#define ATTEMPTS     3u    /* at a thread that runs */
#define PIECE        4096u
#define WINDOW_BYTES (4u * PIECE)
#define WINDOW_ABOVE INTERPRETED_FRAME_BYTES
#define GIL_BYTES    224u /* with its condition variables and mutexes; a little less on x86-64 */

/* Memory below a frame, and of the frame itself: it holds the caller's. */
struct window {
	const struct python *python;
	uint64_t base, end;
	unsigned char bytes[WINDOW_BYTES + WINDOW_ABOVE];
};

/* Page by page, from the frame down: an unmapped page ends it. */
static void window_move(struct window *window, uint64_t frame, size_t size)
{
	struct iovec local[WINDOW_BYTES / PIECE + 2], remote[ARRAY_SIZE(local)];
	uint64_t end = frame + size, floor = frame - MIN(frame, (uint64_t)WINDOW_BYTES), at = end;
	unsigned count = 0;
	ssize_t n;

	for (; at > floor && count < ARRAY_SIZE(local); count++) {
		uint64_t piece = MAX(ALIGN_DOWN(at - 1, PIECE), floor);

		local[count] = (struct iovec){ window->bytes + (piece - floor), at - piece };
		remote[count] = (struct iovec){ (void *)(uintptr_t)piece, at - piece };
		at = piece;
	}
	n = memory_copy(window->python->base.pid, local, count, remote, count);
	window->end = end;
	window->base = end - (n > 0 ? (uint64_t)n : 0);
	if (window->base > floor)
		memmove(window->bytes, window->bytes + (window->base - floor),
			window->end - window->base);
}

/* NULL: it cannot be read. */
static const unsigned char *window_frame(struct window *window, uint64_t frame, size_t size)
{
	if (frame < window->base || frame > window->end || size > window->end - frame)
		window_move(window, frame, size);
	return frame >= window->base && window->end > window->base
		       ? window->bytes + (frame - window->base)
		       : NULL;
}

/* The innermost frame of a thread; 0: it runs no Python. */
static uint64_t first_frame(const struct python *python, uint64_t thread)
{
	const struct kernel_python *walk = &python->layout.walk;
	uint64_t frame = python_word(python, thread + walk->thread_frame);

	return frame && walk->has_control ? python_word(python, frame + walk->control_frame)
					  : frame;
}

static bool is_thread(const struct python *python, uint64_t thread, pid_t tid)
{
	const struct python_layout *layout = &python->layout;
	uint64_t block;

	if (layout->native_thread_id)
		return python_word(python, thread + layout->native_thread_id) == (uint64_t)tid;
	block = python_word(python, thread + layout->walk.thread_id);
	return block &&
	       (uint32_t)python_word(python, block + layout->walk.thread_number) == (uint32_t)tid;
}

/* The state of a thread; 0: it has none.  A thread may have more than one, of which others run no
 * Python. */
static uint64_t seek_thread(const struct python *python, pid_t tid)
{
	const struct python_layout *layout = &python->layout;
	uint64_t interpreter = python_word(python, layout->walk.interpreters), thread;
	unsigned steps = 0;

	for (; interpreter && steps < STEPS_MAX; steps++) {
		thread = python_word(python, interpreter + layout->walk.interpreter_threads);
		for (; thread && steps < STEPS_MAX; steps++) {
			if (is_thread(python, thread, tid) && first_frame(python, thread))
				return thread;
			thread = python_word(python, thread + layout->walk.thread_next);
		}
		interpreter = python_word(python, interpreter + layout->walk.interpreter_next);
	}
	return 0;
}

static uint64_t tid_at(const void *threads, size_t index)
{
	return (uint64_t)((const struct python_thread *)threads)[index].tid;
}

/* NULL: its threads can be told apart. */
const char *python_why_unknown(const struct interpreter *interpreter)
{
	const struct python_layout *layout = &python_of(interpreter)->layout;

	return layout->native_thread_id || layout->walk.thread_number
		       ? NULL
		       : "neither this Python (3.10 or before) nor its C library tells its threads "
			 "apart: its functions are seen by sampler bpf only";
}

/* The state of a thread, at first that found the last time; 0: it runs no Python. */
static uint64_t thread_state(struct python *self, pid_t tid)
{
	uint64_t state;
	size_t index;
	bool is_known =
		find_sorted(self->threads, self->thread_count, (uint64_t)tid, tid_at, &index);

	if (python_why_unknown(&self->base))
		return 0;
	state = is_known ? self->threads[index].state : 0;
	if (state && is_thread(self, state, tid) && first_frame(self, state))
		return state;
	state = seek_thread(self, tid);
	if (is_known)
		self->threads[index].state = state;
	else if (state && !insert_room(&self->threads, &self->thread_count, &self->thread_room,
				       sizeof(*self->threads), index))
		self->threads[index] = (struct python_thread){ tid, state };
	return state;
}

bool python_find_thread(struct interpreter *interpreter, pid_t tid, uint64_t *ret_state,
			uint64_t *ret_identity)
{
	struct python *self = (struct python *)interpreter;

	*ret_state = thread_state(self, tid);
	*ret_identity = python_word(self, *ret_state + self->layout.walk.thread_id);
	return *ret_state;
}

/* Ends at the frame that could not be read, or for which there is no room; at 0 where all were. */
static size_t read_chain(struct window *window, uint64_t frame, struct interpreted_frame *ret,
			 size_t room, uint64_t *ret_end)
{
	const struct kernel_python *walk = &window->python->layout.walk;
	const unsigned char *bytes;
	size_t count = 0;

	for (; frame && count < room; count++) {
		bytes = window_frame(window, frame, walk->frame_size);
		if (!bytes)
			break;
		ret[count].code = word_in(bytes, walk->frame_code);
		ret[count].at =
			(word_in(bytes, walk->frame_at) & ((1ull << INTERPRETED_MARK_SHIFT) - 1)) |
			(uint64_t)bytes[walk->frame_mark] << INTERPRETED_MARK_SHIFT;
		frame = word_in(bytes, walk->frame_previous);
	}
	*ret_end = frame;
	return count;
}

/* Before 3.11 a frame is an object, and a function that is called again reuses its frame's memory:
 * the same address does not prove the same call.  So the chain of callers is read once more. */
static bool is_steady(const struct python *python, uint64_t frame,
		      const struct interpreted_frame *read, size_t count, uint64_t end)
{
	const struct kernel_python *walk = &python->layout.walk;
	struct window window = { .python = python };

	if (python->layout.native_thread_id)
		return true;
	for (size_t i = 0; i < count; i++) {
		const unsigned char *bytes = window_frame(&window, frame, walk->frame_size);

		if (!bytes || word_in(bytes, walk->frame_code) != read[i].code)
			return false;
		frame = word_in(bytes, walk->frame_previous);
	}
	return frame == end;
}

size_t python_read_frames(struct interpreter *interpreter, pid_t tid, struct interpreted_frame *ret,
			  size_t room)
{
	struct python *self = (struct python *)interpreter;
	uint64_t state = thread_state(self, tid);
	uint64_t frame = state ? first_frame(self, state) : 0, before, end;
	size_t count = 0;

	for (unsigned i = 0; frame && i < ATTEMPTS; i++) {
		struct window window = { .python = self };

		before = frame;
		count = read_chain(&window, frame, ret, room, &end);
		frame = first_frame(self, state);
		if (frame == before && is_steady(self, frame, ret, count, end))
			return count;
	}
	/* Frames in one piece are seldom wrong. */
	return self->layout.native_thread_id ? count : 0;
}

uint64_t python_outermost_frame(struct python *python, pid_t tid, uint64_t *ret_code)
{
	const struct kernel_python *walk = &python->layout.walk;
	uint64_t state = thread_state(python, tid), last = 0;
	uint64_t frame = state ? first_frame(python, state) : 0;
	struct window window = { .python = python };
	const unsigned char *bytes;

	for (unsigned i = 0; frame && i < STEPS_MAX; i++) {
		bytes = window_frame(&window, frame, walk->frame_size);
		if (!bytes)
			return 0;
		if (python->layout.entry != PYTHON_ENTRY_SHIM ||
		    bytes[walk->frame_mark] != PYTHON_SHIM) {
			last = frame;
			*ret_code = word_in(bytes, walk->frame_code);
		}
		frame = word_in(bytes, walk->frame_previous);
	}
	return frame ? 0 : last;
}

/* The lock changes all the time. */
bool python_read_lock(const struct interpreter *interpreter, struct interpreter_lock *ret)
{
	const struct python *self = python_of(interpreter);
	const struct python_layout *layout = &self->layout;
	uint64_t gil = 0, thread = 0;

	if (layout->gil)
		gil = interpreter->symbols[PYTHON_RUNTIME].start + layout->gil;
	else if (layout->gil_pointer)
		gil = python_word(self, layout->walk.interpreters);
	if (gil && !layout->gil)
		gil = python_word(self, gil + layout->gil_pointer);
	if (!gil)
		return false;
	*ret = (struct interpreter_lock){ .start = gil, .end = gil + GIL_BYTES };
	if ((uint32_t)python_word(self, gil + layout->gil_locked) == 1)
		thread = python_word(self, gil + layout->gil_holder);
	if (thread)
		ret->holder = (pid_t)python_word(self, thread + layout->native_thread_id);
	return true;
}
