/*
 * Lua, as a program and as a library, in any number of states and threads: a function is a value
 * that leads to its prototype, which has its chunk and its lines.  Functions of C are native frames
 * only.
 *
 * The chunk names a function as in Lua's own tracebacks (values have no names).  Lines are one for
 * each instruction, as a number, or (5.4) as the distance from the line before, with known lines
 * here and there.  All numbers are foreign, and bounded before they are used.
 */
#include "host/interpreter/lua/lua.h"

#include "host/core/text/path.h"
#include "host/core/text/text.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_HEAD        24u /* its letters follow it */
#define TEXT_KIND        4u
#define TEXT_SHOWN       32u /* bytes of a chunk that is a text */
#define INSTRUCTIONS_MAX (1u << 20)
#define KNOWN_BYTES      8u /* an instruction, and its line */
#define LINE_IS_KNOWN    (-128)

/* In a prototype: a pointer, and how many there are. */
struct lua_array {
	unsigned items, count;
};

struct lua_layout {
	unsigned first, last;           /* versions: 50404 is 5.4.4 */
	struct kernel_interpreter walk; /* but for where the code is */
	unsigned prototype_kind, prototype_bytes;
	unsigned source, first_line; /* in a prototype */
	struct lua_array instructions, lines;
	struct lua_array known_lines; /* absolute lines, others are distances; count 0: all are */
};

/* "@path" and "=name" are shown without the mark, else it is the text itself, of which the
 * beginning is shown. */
static int make_file(char *chunk, char **ret)
{
	size_t length = strlen(chunk);

	if (*chunk == '@' || *chunk == '=')
		return asprintf(ret, "%s", chunk + 1) < 0 ? -ENOMEM : 0;
	if (length > TEXT_SHOWN)
		length = TEXT_SHOWN;
	while (length && (chunk[length] & 0xc0) == 0x80) /* in a letter */
		length--;
	chunk[length] = '\0';
	return asprintf(ret, "[string \"%s\"]", chunk) < 0 ? -ENOMEM : 0;
}

int lua_chunk_read(const struct target_memory *memory, uint64_t text, unsigned kind_at,
		   unsigned kind_mask, struct function *function)
{
	unsigned char head[TEXT_HEAD];
	char *chunk = NULL;
	int r, length;

	if (text & 7 || target_read(memory, text, head, sizeof(head)) ||
	    (head[kind_at] & kind_mask) != TEXT_KIND)
		return -EFAULT;
	r = target_string(memory, text + TEXT_HEAD, &chunk);
	if (!r)
		r = make_file(chunk, &function->file);
	free(chunk);
	if (r)
		return r;
	if (function->first_line)
		length = asprintf(&function->name, "function <%s:%u>",
				  path_base_name(function->file), function->first_line);
	else
		length = asprintf(&function->name, "<main>");
	return length < 0 ? -ENOMEM : 0;
}

/* The items of an array, the caller's to free. */
static int read_array(const struct target_memory *memory, const unsigned char *prototype,
		      struct lua_array array, size_t size, unsigned char **ret, size_t *ret_count)
{
	*ret_count = half_in(prototype, array.count);
	if (*ret_count > INSTRUCTIONS_MAX)
		return -EFAULT;
	return target_bytes(memory, word_in(prototype, array.items), *ret_count * size, ret);
}

static void add_line(struct function *function, size_t at, uint32_t line)
{
	line = MIN(line, INT32_MAX);
	if (function->line_count && function->lines[function->line_count - 1].line == line)
		return;
	function->lines[function->line_count++] = (struct function_line){ (uint32_t)at, line };
}

/* A distance that is none leads to the table of known lines. */
static void add_distances(struct function *function, const unsigned char *lines, size_t count,
			  const unsigned char *known, size_t known_count)
{
	uint32_t line = function->first_line;
	size_t next = 0;

	for (size_t i = 0; i < count; i++) {
		signed char distance = (signed char)lines[i];

		if (distance != LINE_IS_KNOWN) {
			line += (uint32_t)distance;
		} else {
			while (next < known_count && half_in(known, next * KNOWN_BYTES) < i)
				next++;
			line = next < known_count ? half_in(known, next * KNOWN_BYTES + 4) : 0;
		}
		add_line(function, i, line);
	}
}

/* Reads the lines of a prototype.  0, -EFAULT or -ENOMEM. */
static int lua_lines_read(const struct target_memory *memory, const struct lua_layout *layout,
			  const unsigned char *prototype, struct function *function)
{
	bool is_by_distance = layout->known_lines.count;
	unsigned char *lines = NULL, *known = NULL;
	size_t count, known_count = 0;
	int r = read_array(memory, prototype, layout->lines, is_by_distance ? 1 : sizeof(uint32_t),
			   &lines, &count);

	if (!r && is_by_distance)
		r = read_array(memory, prototype, layout->known_lines, KNOWN_BYTES, &known,
			       &known_count);
	if (!r)
		function->lines = calloc(count + 1, sizeof(*function->lines));
	if (!r && !function->lines)
		r = -ENOMEM;
	if (!r && is_by_distance)
		add_distances(function, lines, count, known, known_count);
	for (size_t i = 0; !r && !is_by_distance && i < count; i++)
		add_line(function, i, half_in(lines, i * sizeof(uint32_t)));
	free(lines);
	free(known);
	return r;
}

/* Layouts by version, from the headers of Lua on 64-bit machines.  Debian's releases have 5.1.5,
 * 5.2.4, 5.3.6, and of 5.4: 5.4.2, 5.4.4, 5.4.7. */
static const struct lua_layout layouts[] = {
	{ .first = 50104,
	  .last = 50105,
	  .walk = { .frames = KERNEL_FRAMES_LUA,
		    .frame_size = 40,
		    .frame_stride = 40,
		    .frame_code = 8,
		    .frame_at = 24,
		    .lua = { .shared = 32,
			     .call = 40,
			     .jump = 168,
			     .at = 48,
			     .first_call = 80,
			     .first = 176,
			     .prototype = 32,
			     .instructions = 24,
			     .count = 80,
			     .has_c_flag = 1,
			     .is_register = 1,
			     .call_operation = 28,
			     .tail_operation = 29 } },
	  .prototype_kind = 9,
	  .prototype_bytes = 120,
	  .source = 64,
	  .first_line = 96,
	  .instructions = { 24, 80 },
	  .lines = { 40, 84 } },
	{ .first = 50200,
	  .last = 50204,
	  .walk = { .frames = KERNEL_FRAMES_LUA,
		    .frame_size = 80,
		    .frame_previous = 16,
		    .frame_at = 56,
		    .frame_mark = 32,
		    .lua = { .shared = 24,
			     .call = 32,
			     .jump = 112,
			     .at = KERNEL_NO_STEP,
			     .first_call = KERNEL_NO_STEP,
			     .first = 264,
			     .prototype = 24,
			     .mark_bit = 18 /* CIST_REENTRY */,
			     .is_mark_clear = 1 } },
	  .prototype_kind = 9,
	  .prototype_bytes = 128,
	  .source = 72,
	  .first_line = 104,
	  .instructions = { 24, 88 },
	  .lines = { 40, 92 } },
	{ .first = 50300,
	  .last = 50306,
	  .walk = { .frames = KERNEL_FRAMES_LUA,
		    .frame_size = 72,
		    .frame_previous = 16,
		    .frame_at = 40,
		    .frame_mark = 64,
		    .lua = { .shared = 24,
			     .call = 32,
			     .jump = 88,
			     .at = KERNEL_NO_STEP,
			     .first_call = KERNEL_NO_STEP,
			     .first = 200,
			     .prototype = 24,
			     .mark_bit = 19 /* CIST_FRESH */ } },
	  .prototype_kind = 9,
	  .prototype_bytes = 120,
	  .source = 104,
	  .first_line = 40,
	  .instructions = { 56, 24 },
	  .lines = { 72, 28 } },
	{ .first = 50402,
	  .last = 50408,
	  .walk = { .frames = KERNEL_FRAMES_LUA,
		    .frame_size = 64,
		    .frame_previous = 16,
		    .frame_at = 32,
		    .frame_mark = 56,
		    .lua = { .shared = 24,
			     .call = 32,
			     .jump = 88,
			     .at = KERNEL_NO_STEP,
			     .first_call = KERNEL_NO_STEP,
			     .first = 264,
			     .prototype = 24,
			     .instructions = 64,
			     .count = 24,
			     .is_register = 1,
			     .mark_bit = 50 /* CIST_FRESH */ } },
	  .prototype_kind = 10,
	  .prototype_bytes = 128,
	  .source = 112,
	  .first_line = 44,
	  .instructions = { 64, 24 },
	  .lines = { 88, 28 },
	  .known_lines = { 96, 40 } },
};

/* NULL: it is not known. */
static const struct lua_layout *lua_layout_find(unsigned version)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (version >= layouts[i].first && version <= layouts[i].last)
			return &layouts[i];
	return NULL;
}

enum {
	SYMBOL_IDENTITY,
	SYMBOL_LOOP,
};

#define IDENTITY_BYTES  48u
#define KIND            8u /* in an object */
#define PROTOTYPE_BYTES 128u
#define TEXT_KIND_MASK  15u

/* "$LuaVersion: Lua 5.4.4  Copyright ..."; 0: not found. */
static unsigned read_version(const char *identity)
{
	uint64_t parts[3] = { 0 };
	const char *at = identity;
	struct text text;

	while ((at = strstr(at, "Lua ")) && !isdigit((unsigned char)at[4]))
		at += 4;
	if (!at)
		return 0;
	text = text_of(at + 4);
	for (unsigned i = 0; i < ARRAY_SIZE(parts); i++)
		if ((i && !text_take_char(&text, '.')) || !text_take_number(&text, 10, &parts[i]) ||
		    parts[i] > 99)
			return 0;
	return (unsigned)(parts[0] * 10000 + parts[1] * 100 + parts[2]);
}

/* The loop is by far the largest function, if it has no name. */
static int lua_recognise(struct interpreter *self, const struct space *space, struct err *err)
{
	char identity[IDENTITY_BYTES + 1] = "";
	const struct lua_layout *layout;
	struct code_range code;

	(void)space;
	if (target_read(&self->memory, self->symbols[SYMBOL_IDENTITY].start, identity,
			IDENTITY_BYTES))
		return err_set(err, -EOPNOTSUPP, "its version cannot be read");
	self->version = read_version(identity);
	layout = lua_layout_find(self->version);
	if (!layout)
		return err_set(err, -EOPNOTSUPP, "version %u.%u.%u is not supported",
			       self->version / 10000, self->version / 100 % 100,
			       self->version % 100);
	if (!interpreter_find_segment(self, PF_X, &code))
		return err_set(err, -EOPNOTSUPP, "its code was not found");
	self->walk = layout->walk;
	self->walk.lua.code_start = code.start;
	self->walk.lua.code_end = code.end;
	if (self->symbols[SYMBOL_LOOP].start)
		interpreter_set_loop(self, self->symbols[SYMBOL_LOOP].start);
	else
		(void)interpreter_find_largest(self, &self->loop[0]);
	return 0;
}

/* Another object may replace it during the reading. */
static int read_prototype(const struct target_memory *memory, const struct lua_layout *layout,
			  uint64_t address, unsigned char *prototype)
{
	if (address & 7 || target_read(memory, address, prototype, layout->prototype_bytes))
		return -EFAULT;
	return prototype[KIND] == layout->prototype_kind ? 0 : -EFAULT;
}

static int read_function(const struct interpreter *self, uint64_t code, struct function *ret)
{
	const struct lua_layout *layout = lua_layout_find(self->version);
	unsigned char prototype[PROTOTYPE_BYTES], again[PROTOTYPE_BYTES];
	struct function function = { 0 };
	int r = layout ? read_prototype(&self->memory, layout, code, prototype) : -EFAULT;

	if (!r) {
		function.code = word_in(prototype, layout->instructions.items);
		function.first_line = MIN(half_in(prototype, layout->first_line), INT32_MAX);
		r = lua_chunk_read(&self->memory, word_in(prototype, layout->source), KIND,
				   TEXT_KIND_MASK, &function);
	}
	if (!r)
		r = lua_lines_read(&self->memory, layout, prototype, &function);
	if (!r && (read_prototype(&self->memory, layout, code, again) ||
		   word_in(again, layout->source) != word_in(prototype, layout->source) ||
		   word_in(again, layout->lines.items) != word_in(prototype, layout->lines.items)))
		r = -EFAULT;
	return function_hand_over(&function, r, ret);
}

/* `at` is behind the instruction that runs. */
static unsigned line_of(const struct interpreter *self, const struct function *function,
			uint64_t at)
{
	(void)self;
	return at > function->code ? function_line_at(function, (at - function->code) / 4 - 1) : 0;
}

const struct interpreter_kind interpreter_lua = {
	.title = "Lua",
	.language = "lua",
	.size = sizeof(struct interpreter),
	.names = { "lua", "liblua" },
	.symbols = { [SYMBOL_IDENTITY] = "lua_ident", [SYMBOL_LOOP] = "luaV_execute" },
	.recognise = lua_recognise,
	.read = read_function,
	.line = line_of,
};
