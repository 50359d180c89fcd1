/*
 * LuaJIT 2.1 with references of 64 bits (GC64), as in Debian 12 and later: a function leads to its
 * instructions, behind the prototype with its chunk and its lines.  In compiled code, functions are
 * known up to the one that entered it; inlined ones are not.
 */
#include "host/interpreter/lua/lua.h"

#include <errno.h>
#include <stdlib.h>

#ifdef __x86_64__
#define IS_X86_64 true
#else
#define IS_X86_64 false
#endif

#define ASSEMBLY_SEEN 4096u /* bytes that are read */
#define LINES_MAX     (1u << 20)

#define PROTOTYPE_BYTES 104u /* instructions follow it */
#define KIND            9u
#define KIND_PROTOTYPE  7u
#define INSTRUCTIONS    12u
#define CHUNK           64u
#define FIRST_LINE      72u
#define LINE_COUNT      76u
#define LINES           80u

/* Its assembly extracts the kind of a value from the bits above 47; with references of 32 bits
 * there is no such instruction (sar r64, 47). */
static bool is_gc64(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i + 4 <= size; i++)
		if ((bytes[i] & 0xfe) == 0x48 && bytes[i + 1] == 0xc1 &&
		    (bytes[i + 2] & 0xf8) == 0xf8 && bytes[i + 3] == 47)
			return true;
	return false;
}

static int luajit_recognise(struct interpreter *self, const struct space *space, struct err *err)
{
	unsigned char bytes[ASSEMBLY_SEEN];

	(void)space;
	if (!IS_X86_64)
		return err_set(err, -EOPNOTSUPP, "LuaJIT is supported on x86-64 only");
	/* The assembly is larger than any function. */
	if (!interpreter_find_largest(self, &self->loop[0]) ||
	    target_read(&self->memory, self->loop[0].start, bytes, sizeof(bytes)))
		return err_set(err, -EOPNOTSUPP, "its assembly was not found");
	if (!is_gc64(bytes, sizeof(bytes)))
		return err_set(err, -EOPNOTSUPP, "builds without GC64 are not supported");
	self->walk.frames = KERNEL_FRAMES_LUAJIT;
	return 0;
}

static int read_prototype(const struct target_memory *memory, uint64_t code,
			  unsigned char prototype[PROTOTYPE_BYTES])
{
	if (code & 3 || code < PROTOTYPE_BYTES ||
	    target_read(memory, code - PROTOTYPE_BYTES, prototype, PROTOTYPE_BYTES))
		return -EFAULT;
	return prototype[KIND] == KIND_PROTOTYPE ? 0 : -EFAULT;
}

/* A line is kept as its distance from the first one, in as many bytes as the last one needs.  The
 * first instruction has none: it is the function's head. */
static int read_lines(const struct target_memory *memory, const unsigned char *prototype,
		      struct function *function)
{
	uint32_t count = half_in(prototype, INSTRUCTIONS), lines = half_in(prototype, LINE_COUNT);
	uint64_t address = word_in(prototype, LINES);
	size_t width = lines < 256 ? 1 : lines < 65536 ? 2 : 4;
	unsigned char *bytes;
	int r;

	if (!address)
		return 0;
	if (!count || count > LINES_MAX)
		return -EFAULT;
	function->lines = calloc(count, sizeof(*function->lines));
	r = function->lines ? target_bytes(memory, address, (count - 1) * width, &bytes) : -ENOMEM;
	if (r)
		return r;
	for (uint32_t i = 1; i < count; i++) {
		uint32_t distance = 0;

		memcpy(&distance, bytes + (i - 1) * width, width);
		function->lines[function->line_count++] =
			(struct function_line){ i,
						MIN(function->first_line + distance, INT32_MAX) };
	}
	free(bytes);
	return 0;
}

/* Another object may replace it during the reading. */
static int read_function(const struct interpreter *self, uint64_t code, struct function *ret)
{
	unsigned char prototype[PROTOTYPE_BYTES], again[PROTOTYPE_BYTES];
	struct function function = { .code = code };
	int r = read_prototype(&self->memory, code, prototype);

	if (!r) {
		function.first_line = MIN(half_in(prototype, FIRST_LINE), INT32_MAX);
		r = lua_chunk_read(&self->memory, word_in(prototype, CHUNK), KIND, 0xff, &function);
	}
	if (!r)
		r = read_lines(&self->memory, prototype, &function);
	if (!r && (read_prototype(&self->memory, code, again) ||
		   memcmp(prototype + CHUNK, again + CHUNK, LINES + 8 - CHUNK)))
		r = -EFAULT;
	return function_hand_over(&function, r, ret);
}

/* `at` is after the running instruction; other addresses are in compiled code. */
static unsigned line_of(const struct interpreter *self, const struct function *function,
			uint64_t at)
{
	uint64_t number = (at - function->code) / 4;

	(void)self;
	return at > function->code && number - 1 <= function->line_count
		       ? function_line_at(function, number - 1)
		       : 0;
}

const struct interpreter_kind interpreter_luajit = {
	.title = "LuaJIT",
	.language = "lua",
	.size = sizeof(struct interpreter),
	.names = { "luajit", "libluajit" },
	.symbols = { "luaJIT_setmode" },
	.recognise = luajit_recognise,
	.read = read_function,
	.line = line_of,
};
