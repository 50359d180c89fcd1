/*
 * CPython: a thread's frames are a chain; each has its code object, and its present instruction.
 * Each run of the loop has one frame up to 3.10, and since 3.11 all those called within the loop.
 */
#include "host/interpreter/python/python.h"

#include "host/core/text/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Since 3.11 a variable has it, else the name of the file: "python3.9", "libpython3.9.so.1.0". */
static int find_version(struct interpreter *self, struct err *err)
{
	const char *name = strstr(path_base_name(self->module->path), "python3.");
	uint64_t address = self->symbols[PYTHON_VERSION].start;
	uint32_t version = 0;
	int r = 0;

	if (name)
		self->version = (unsigned)strtoul(name + strlen("python3."), NULL, 10);
	if (address)
		r = self->memory.read(self->memory.context, address, &version, sizeof(version));
	if (r)
		return err_set(err, r, "its memory cannot be read: %s", strerror(-r));
	if (version >> 24 == 3)
		self->version = version >> 16 & 255;
	snprintf(self->title, sizeof(self->title), "Python 3.%u", self->version);
	return 0;
}

/* Before 3.11 the interpreter keeps only pthread_self().  -ENOENT: the program is still being
 * loaded, and will map its C library. */
static int find_thread_numbers(struct python *self, const struct space *space, struct err *err)
{
	unsigned offset = 0;
	int r = self->layout.native_thread_id
			? 0
			: thread_number_find(space, &self->base.memory, &offset);

	self->layout.walk.thread_number = (__u16)offset;
	if (!r || PYTHON_THREADS_BY_REGISTER)
		return 0;
	if (r == -ENOENT && !python_word(self, self->layout.walk.interpreters))
		return r;
	return err_set(err, -EOPNOTSUPP,
		       "its C library does not tell where a thread's number is "
		       "(_thread_db_pthread_tid)");
}

static int python_recognise(struct interpreter *base, const struct space *space, struct err *err)
{
	struct python *self = (struct python *)base;
	uint64_t runtime = base->symbols[PYTHON_RUNTIME].start;
	unsigned char bytes[PYTHON_OFFSETS_BYTES];
	int r = base->symbols[PYTHON_LOOP].start ? find_version(base, err) : -ENOENT;

	if (r)
		return r;
	r = base->memory.read(base->memory.context, runtime, bytes, sizeof(bytes));
	if (r)
		return err_set(err, r, "its memory cannot be read: %s", strerror(-r));
	r = python_layout_find(base->version, bytes, sizeof(bytes), &self->layout, err);
	self->layout.walk.interpreters = runtime + self->layout.interpreters;
	if (!r)
		r = find_thread_numbers(self, space, err);
	base->walk = (struct kernel_interpreter){ .frames = KERNEL_FRAMES_PYTHON,
						  .python = self->layout.walk };
	base->loop[0] = base->symbols[PYTHON_LOOP];
	if (!r)
		base->loop[1] = python_cold_loop(base);
	return r;
}

static void python_close(struct interpreter *interpreter)
{
	free(((struct python *)interpreter)->threads);
}

static enum frame_role role_of(const struct interpreter *interpreter,
			       const struct interpreted_frame *frame)
{
	unsigned mark = (unsigned)(frame->at >> INTERPRETED_MARK_SHIFT);

	switch (python_of(interpreter)->layout.entry) {
	case PYTHON_ENTRY_ALL:
		return FRAME_ENTRY;
	case PYTHON_ENTRY_MARKED:
		return mark ? FRAME_ENTRY : FRAME_CALLED;
	case PYTHON_ENTRY_SHIM:
		return mark == PYTHON_SHIM ? FRAME_SHIM : FRAME_CALLED;
	}
	return FRAME_CALLED;
}

static const struct interpreter_threads threads = {
	.why_unknown = python_why_unknown,
	.read_frames = python_read_frames,
	.read_name = python_read_name,
	.find = python_find_thread,
	.read_lock = python_read_lock,
	.needs_file = thread_number_is_library,
};

const struct interpreter_kind interpreter_python = {
	.title = "Python",
	.language = "python",
	.size = sizeof(struct python),
	.names = { "python3", "libpython3" },
	.symbols = { [PYTHON_RUNTIME] = "_PyRuntime",
		     [PYTHON_LOOP] = "_PyEval_EvalFrameDefault",
		     [PYTHON_VERSION] = "Py_Version",
		     [PYTHON_CODE_TYPE] = "PyCode_Type" },
	.recognise = python_recognise,
	.close = python_close,
	.read = python_read_function,
	.line = python_line_of,
	.role = role_of,
	.is_outermost_entry = true,
	.threads = &threads,
};
