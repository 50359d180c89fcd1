/*
 * Reads the Python frames of a thread from outside.  They are right only while the thread sleeps:
 * the caller knows.
 */
#include "host/python/python_private.h"

#include <sys/uio.h>

#define STEPS_MAX 4096u /* threads and interpreters */

static uint64_t word(const struct python *python, uint64_t address)
{
	uint64_t value = 0;
	struct iovec local = { &value, sizeof(value) },
		     remote = { (void *)(uintptr_t)address, sizeof(value) };

	return process_vm_readv(python->pid, &local, 1, &remote, 1, 0) == sizeof(value) ? value : 0;
}

/* The innermost frame of a thread; 0: it runs no Python. */
static uint64_t first_frame(const struct python *python, uint64_t thread)
{
	const struct kernel_python *walk = &python->layout.walk;
	uint64_t frame = word(python, thread + walk->thread_frame);

	return frame && walk->has_control ? word(python, frame + walk->control_frame) : frame;
}

static uint64_t find_frame(const struct python *python, pid_t tid)
{
	const struct python_layout *layout = &python->layout;
	uint64_t interpreter = word(python, layout->walk.interpreters), thread, frame;
	unsigned steps = 0;

	for (; interpreter && steps < STEPS_MAX; steps++) {
		thread = word(python, interpreter + layout->walk.interpreter_threads);
		for (; thread && steps < STEPS_MAX; steps++) {
			frame = word(python, thread + layout->native_thread_id) == (uint64_t)tid
					? first_frame(python, thread)
					: 0;
			if (frame)
				return frame;
			thread = word(python, thread + layout->walk.thread_next);
		}
		interpreter = word(python, interpreter + layout->walk.interpreter_next);
	}
	return 0;
}

size_t python_read_frames(const struct python *python, pid_t tid, struct kernel_python_frame *ret,
			  size_t room)
{
	const struct kernel_python *walk = &python->layout.walk;
	uint64_t frame = python->layout.native_thread_id ? find_frame(python, tid) : 0;
	size_t count = 0;

	for (; frame && count < room; count++) {
		uint64_t at = word(python, frame + walk->frame_at),
			 mark = word(python, frame + (walk->frame_mark & ~7u)) >>
				(walk->frame_mark & 7u) * 8;

		ret[count].code = word(python, frame + walk->frame_code);
		ret[count].at = (at & ((1ull << KERNEL_PYTHON_MARK_SHIFT) - 1)) |
				(mark & 255) << KERNEL_PYTHON_MARK_SHIFT;
		frame = word(python, frame + walk->frame_previous);
	}
	return count;
}
