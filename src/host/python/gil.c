/*
 * Reads which thread holds the interpreter's lock.  The lock changes all the time.
 */
#include "host/python/python_private.h"

#define GIL_BYTES 224u /* with its condition variables and mutexes; a little less on x86-64 */

static uint64_t gil_address(const struct python *python)
{
	const struct python_layout *layout = &python->layout;
	uint64_t interpreter;

	if (layout->gil)
		return python->binary.runtime + layout->gil;
	interpreter = layout->gil_pointer ? python_word(python, layout->walk.interpreters) : 0;
	return interpreter ? python_word(python, interpreter + layout->gil_pointer) : 0;
}

bool python_gil_read(const struct python *python, struct python_gil *ret)
{
	const struct python_layout *layout = &python->layout;
	uint64_t gil = gil_address(python), thread;

	if (!gil)
		return false;
	*ret = (struct python_gil){ .start = gil, .end = gil + GIL_BYTES };
	thread = (uint32_t)python_word(python, gil + layout->gil_locked) == 1
			 ? python_word(python, gil + layout->gil_holder)
			 : 0;
	if (thread)
		ret->holder = (pid_t)python_word(python, thread + layout->native_thread_id);
	return true;
}
