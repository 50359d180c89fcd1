/*
 * Lua, as a program and as a library, in any number of states and threads: a function is a value
 * that leads to its prototype, which has its chunk and its lines.  Functions of C are native frames
 * only.
 */
#include "host/interpreter/lua/lua.h"

#include "host/core/text/text.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>

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
