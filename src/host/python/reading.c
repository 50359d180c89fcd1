/*
 * Reads the Python frames of a thread from outside.  They are valid while the thread sleeps.  A
 * running thread changes them meanwhile: most of them are in one piece of memory, which is copied
 * at once, and the thread must be in the same frame afterwards, or it is read again.  Before 3.11
 * each is a separate object: see is_steady().
 */
#include "host/python/python_private.h"

#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/process/memory.h"

#include <string.h>
#include <sys/uio.h>

#define STEPS_MAX    4096u /* threads and interpreters */
#define ATTEMPTS     3u    /* at a thread that runs */
#define PIECE        4096u
#define WINDOW_BYTES (4u * PIECE)
#define WINDOW_ABOVE KERNEL_PYTHON_FRAME_BYTES

/* Memory below a frame, and of the frame itself: it holds the caller's. */
struct window {
	const struct python *python;
	uint64_t base, end;
	unsigned char bytes[WINDOW_BYTES + WINDOW_ABOVE];
};

uint64_t python_word(const struct python *python, uint64_t address)
{
	uint64_t value = 0;
	struct iovec local = { &value, sizeof(value) },
		     remote = { (void *)(uintptr_t)address, sizeof(value) };

	return memory_copy(python->pid, &local, 1, &remote, 1) == sizeof(value) ? value : 0;
}

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
	n = memory_copy(window->python->pid, local, count, remote, count);
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

static uint64_t word_at(const unsigned char *bytes, unsigned offset)
{
	uint64_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
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

/* First checks the state found the last time. */
uint64_t python_thread_state(struct python *python, pid_t tid)
{
	size_t index = count_below(python->threads, python->thread_count, (uint64_t)tid, tid_at);
	struct python_thread *known = &python->threads[index];
	bool is_known = index < python->thread_count && known->tid == tid;
	uint64_t state;

	if (!python_knows_threads(python))
		return 0;
	if (is_known && is_thread(python, known->state, tid) && first_frame(python, known->state))
		return known->state;
	state = seek_thread(python, tid);
	if (is_known) {
		known->state = state;
	} else if (state && !make_room(&python->threads, python->thread_count, &python->thread_room,
				       sizeof(*known))) {
		known = &python->threads[index];
		memmove(known + 1, known, (python->thread_count - index) * sizeof(*known));
		*known = (struct python_thread){ tid, state };
		python->thread_count++;
	}
	return state;
}

bool python_find_thread(struct python *python, pid_t tid, uint64_t *ret_state,
			uint64_t *ret_identity)
{
	*ret_state = python_thread_state(python, tid);
	*ret_identity = python_word(python, *ret_state + python->layout.walk.thread_id);
	return *ret_state;
}

/* Ends at the frame that could not be read, or for which there is no room; at 0 where all were. */
static size_t read_chain(struct window *window, uint64_t frame, struct kernel_python_frame *ret,
			 size_t room, uint64_t *ret_end)
{
	const struct kernel_python *walk = &window->python->layout.walk;
	const unsigned char *bytes;
	size_t count = 0;

	for (; frame && count < room; count++) {
		bytes = window_frame(window, frame, walk->frame_size);
		if (!bytes)
			break;
		ret[count].code = word_at(bytes, walk->frame_code);
		ret[count].at = (word_at(bytes, walk->frame_at) &
				 ((1ull << KERNEL_PYTHON_MARK_SHIFT) - 1)) |
				(uint64_t)bytes[walk->frame_mark] << KERNEL_PYTHON_MARK_SHIFT;
		frame = word_at(bytes, walk->frame_previous);
	}
	*ret_end = frame;
	return count;
}

/* Before 3.11 a frame is an object, and a function that is called again reuses its frame's memory:
 * the same address does not prove the same call.  So the chain of callers is read once more. */
static bool is_steady(const struct python *python, uint64_t frame,
		      const struct kernel_python_frame *read, size_t count, uint64_t end)
{
	const struct kernel_python *walk = &python->layout.walk;
	struct window window = { .python = python };

	if (python->layout.native_thread_id)
		return true;
	for (size_t i = 0; i < count; i++) {
		const unsigned char *bytes = window_frame(&window, frame, walk->frame_size);

		if (!bytes || word_at(bytes, walk->frame_code) != read[i].code)
			return false;
		frame = word_at(bytes, walk->frame_previous);
	}
	return frame == end;
}

size_t python_read_frames(struct python *python, pid_t tid, struct kernel_python_frame *ret,
			  size_t room)
{
	uint64_t state = python_thread_state(python, tid);
	uint64_t frame = state ? first_frame(python, state) : 0, before, end;
	size_t count = 0;

	for (unsigned i = 0; frame && i < ATTEMPTS; i++) {
		struct window window = { .python = python };

		before = frame;
		count = read_chain(&window, frame, ret, room, &end);
		frame = first_frame(python, state);
		if (frame == before && is_steady(python, frame, ret, count, end))
			return count;
	}
	/* Frames in one piece are seldom wrong. */
	return python->layout.native_thread_id ? count : 0;
}

uint64_t python_outermost_frame(struct python *python, pid_t tid, uint64_t *ret_code)
{
	const struct kernel_python *walk = &python->layout.walk;
	uint64_t state = python_thread_state(python, tid), last = 0;
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
			*ret_code = word_at(bytes, walk->frame_code);
		}
		frame = word_at(bytes, walk->frame_previous);
	}
	return frame ? 0 : last;
}
