/*
 * Layouts by version.  Those of 3.9 to 3.12 are from the headers of CPython on 64-bit machines,
 * without its debug build; they do not change within a version.
 */
#include "host/interpreter/python/python.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define FIRST_MINOR     9u
#define DESCRIBED_MINOR 13u

static const struct python_layout tables[] = {
	[9 - FIRST_MINOR] = {
		.interpreters = 32,
		.walk = { .interpreter_threads = 8, .thread_next = 8, .thread_id = 176,
			  .thread_frame = 24, .frame_size = 112, .frame_previous = 24,
			  .frame_code = 32, .frame_at = 104 },
		.entry = PYTHON_ENTRY_ALL, .lines = PYTHON_LINES_STEPS, .unit = 1,
		.filename = 104, .name = 112, .linetable = 120, .firstlineno = 40,
		.ascii_text = 48, .other_text = 72,
	},
	[10 - FIRST_MINOR] = {
		.interpreters = 32,
		.walk = { .interpreter_threads = 8, .thread_next = 8, .thread_id = 176,
			  .thread_frame = 24, .frame_size = 104, .frame_previous = 24,
			  .frame_code = 32, .frame_at = 96 },
		.entry = PYTHON_ENTRY_ALL, .lines = PYTHON_LINES_RANGES, .unit = 2,
		.filename = 104, .name = 112, .linetable = 120, .firstlineno = 40,
		.ascii_text = 48, .other_text = 72,
	},
	[11 - FIRST_MINOR] = {
		.interpreters = 40, .native_thread_id = 160,
		.walk = { .interpreter_threads = 16, .thread_next = 8, .thread_id = 152,
			  .thread_frame = 56, .has_control = 1, .control_frame = 8,
			  .frame_size = 72, .frame_previous = 48, .frame_code = 32,
			  .frame_at = 56, .frame_mark = 68 },
		.entry = PYTHON_ENTRY_MARKED, .lines = PYTHON_LINES_LOCATIONS,
		.filename = 112, .name = 120, .qualname = 128, .linetable = 136,
		.firstlineno = 72, .instructions = 184,
		.ascii_text = 48, .other_text = 72,
		.type_keys = 872, .values = PYTHON_VALUES_POINTER,
		.gil = 360, .gil_holder = 8, .gil_locked = 16,
	},
	[12 - FIRST_MINOR] = {
		.interpreters = 40, .native_thread_id = 144,
		.walk = { .interpreter_threads = 72, .thread_next = 8, .thread_id = 136,
			  .thread_frame = 56, .has_control = 1, .control_frame = 0,
			  .frame_size = 72, .frame_previous = 8, .frame_code = 0,
			  .frame_at = 56, .frame_mark = 70 },
		.entry = PYTHON_ENTRY_SHIM, .lines = PYTHON_LINES_LOCATIONS,
		.filename = 112, .name = 120, .qualname = 128, .linetable = 136,
		.firstlineno = 68, .instructions = 192,
		.ascii_text = 40, .other_text = 56,
		.type_keys = 880, .values = PYTHON_VALUES_TAGGED,
	},
};

/* The words of the description in 3.13. */
enum described {
	DESCRIBED_COOKIE = 0,
	DESCRIBED_VERSION = 1,
	DESCRIBED_FREE_THREADED = 2,
	DESCRIBED_INTERPRETERS = 5,
	DESCRIBED_INTERPRETER_NEXT = 8,
	DESCRIBED_INTERPRETER_THREADS = 9,
	DESCRIBED_GIL_POINTER = 14,
	DESCRIBED_GIL = 15,
	DESCRIBED_GIL_LOCKED = 17,
	DESCRIBED_GIL_HOLDER = 18,
	DESCRIBED_THREAD_NEXT = 21,
	DESCRIBED_THREAD_FRAME = 23,
	DESCRIBED_THREAD_ID = 24,
	DESCRIBED_THREAD_NATIVE_ID = 25,
	DESCRIBED_FRAME_PREVIOUS = 29,
	DESCRIBED_FRAME_CODE = 30,
	DESCRIBED_FRAME_AT = 31,
	DESCRIBED_FRAME_LOCALS = 32,
	DESCRIBED_FRAME_OWNER = 33,
	DESCRIBED_CODE_FILENAME = 35,
	DESCRIBED_CODE_NAME = 36,
	DESCRIBED_CODE_QUALNAME = 37,
	DESCRIBED_CODE_LINETABLE = 38,
	DESCRIBED_CODE_FIRSTLINENO = 39,
	DESCRIBED_CODE_INSTRUCTIONS = 43,
	DESCRIBED_WORDS,
};

#define FRAME_MAX       (INTERPRETED_FRAME_BYTES - 8u)
#define OBJECT_MAX      (PYTHON_CODE_BYTES - 8u)
#define INTERPRETER_MAX (1u << 24)

/* Below which the words that are used must be. */
static const struct {
	enum described word;
	uint64_t limit;
} bounds[] = {
	{ DESCRIBED_INTERPRETERS, UINT16_MAX },        { DESCRIBED_INTERPRETER_NEXT, UINT16_MAX },
	{ DESCRIBED_INTERPRETER_THREADS, UINT16_MAX }, { DESCRIBED_THREAD_NEXT, UINT16_MAX },
	{ DESCRIBED_THREAD_FRAME, UINT16_MAX },        { DESCRIBED_THREAD_ID, UINT16_MAX },
	{ DESCRIBED_THREAD_NATIVE_ID, UINT16_MAX },    { DESCRIBED_FRAME_PREVIOUS, FRAME_MAX },
	{ DESCRIBED_FRAME_CODE, FRAME_MAX },           { DESCRIBED_FRAME_AT, FRAME_MAX },
	{ DESCRIBED_FRAME_LOCALS, FRAME_MAX },         { DESCRIBED_FRAME_OWNER, FRAME_MAX },
	{ DESCRIBED_CODE_FILENAME, OBJECT_MAX },       { DESCRIBED_CODE_NAME, OBJECT_MAX },
	{ DESCRIBED_CODE_QUALNAME, OBJECT_MAX },       { DESCRIBED_CODE_LINETABLE, OBJECT_MAX },
	{ DESCRIBED_CODE_FIRSTLINENO, OBJECT_MAX },    { DESCRIBED_CODE_INSTRUCTIONS, UINT16_MAX },
	{ DESCRIBED_GIL_POINTER, INTERPRETER_MAX },    { DESCRIBED_GIL, INTERPRETER_MAX },
	{ DESCRIBED_GIL_HOLDER, INTERPRETER_MAX },     { DESCRIBED_GIL_LOCKED, INTERPRETER_MAX },
};

static void layout_describe(const uint64_t *words, struct python_layout *ret)
{
	*ret = (struct python_layout){
		.interpreters = (unsigned)words[DESCRIBED_INTERPRETERS],
		.native_thread_id = (unsigned)words[DESCRIBED_THREAD_NATIVE_ID],
		.walk = { .interpreter_next = (__u16)words[DESCRIBED_INTERPRETER_NEXT],
			  .interpreter_threads = (__u16)words[DESCRIBED_INTERPRETER_THREADS],
			  .thread_next = (__u16)words[DESCRIBED_THREAD_NEXT],
			  .thread_id = (__u16)words[DESCRIBED_THREAD_ID],
			  .thread_frame = (__u16)words[DESCRIBED_THREAD_FRAME],
			  .frame_size = (__u8)words[DESCRIBED_FRAME_LOCALS],
			  .frame_previous = (__u8)words[DESCRIBED_FRAME_PREVIOUS],
			  .frame_code = (__u8)words[DESCRIBED_FRAME_CODE],
			  .frame_at = (__u8)words[DESCRIBED_FRAME_AT],
			  .frame_mark = (__u8)words[DESCRIBED_FRAME_OWNER] },
		.entry = PYTHON_ENTRY_SHIM,
		.lines = PYTHON_LINES_LOCATIONS,
		.filename = (unsigned)words[DESCRIBED_CODE_FILENAME],
		.name = (unsigned)words[DESCRIBED_CODE_NAME],
		.qualname = (unsigned)words[DESCRIBED_CODE_QUALNAME],
		.linetable = (unsigned)words[DESCRIBED_CODE_LINETABLE],
		.firstlineno = (unsigned)words[DESCRIBED_CODE_FIRSTLINENO],
		.instructions = (unsigned)words[DESCRIBED_CODE_INSTRUCTIONS],
		.ascii_text = 40,
		.other_text = 56,
		.type_keys = 880,
		.values = PYTHON_VALUES_INSIDE,
		.gil_pointer = (unsigned)words[DESCRIBED_GIL_POINTER],
		.gil_holder = (unsigned)(words[DESCRIBED_GIL_HOLDER] - words[DESCRIBED_GIL]),
		.gil_locked = (unsigned)(words[DESCRIBED_GIL_LOCKED] - words[DESCRIBED_GIL]),
	};
}

static int read_description(const unsigned char *runtime, size_t size, struct python_layout *ret,
			    struct err *err)
{
	uint64_t words[DESCRIBED_WORDS];
	bool is_valid;

	if (size < sizeof(words) || memcmp(runtime, "xdebugpy", 8))
		return err_set(err, -EOPNOTSUPP,
			       "its debug offsets (_Py_DebugOffsets) are missing");
	memcpy(words, runtime, sizeof(words));
	is_valid = words[DESCRIBED_VERSION] >> 16 == (3u << 8 | DESCRIBED_MINOR);
	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++)
		is_valid &= words[bounds[i].word] < bounds[i].limit;
	if (words[DESCRIBED_FREE_THREADED])
		return err_set(err, -EOPNOTSUPP,
			       "free-threaded builds (without the GIL) are not supported");
	if (!is_valid)
		return err_set(err, -EOPNOTSUPP,
			       "its debug offsets (_Py_DebugOffsets) are malformed");
	layout_describe(words, ret);
	return 0;
}

int python_layout_find(unsigned minor, const unsigned char *runtime, size_t size,
		       struct python_layout *ret, struct err *err)
{
	int r = 0;

	if (minor == DESCRIBED_MINOR)
		r = read_description(runtime, size, ret, err);
	else if (minor >= FIRST_MINOR && minor - FIRST_MINOR < ARRAY_SIZE(tables))
		*ret = tables[minor - FIRST_MINOR];
	else
		r = err_set(err, -EOPNOTSUPP, "this version is not supported");
	if (!r && !PYTHON_THREADS_BY_REGISTER && ret->native_thread_id)
		ret->walk.thread_id = (__u16)ret->native_thread_id;
	return r;
}
