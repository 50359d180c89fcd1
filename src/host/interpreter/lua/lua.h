/*
 * Private to the kinds Lua and LuaJIT: the layout of a version of Lua; chunks and lines.
 */
#pragma once

#include "host/interpreter/kind.h"

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

/* Reads the file and the name of a function from the name of its chunk ("@file", "=name", or a text
 * itself) and function->first_line.  `text`: the address of that name, whose byte kind_at has its
 * kind, in these bits.  0, -EFAULT or -ENOMEM. */
int lua_chunk_read(const struct target_memory *memory, uint64_t text, unsigned kind_at,
		   unsigned kind_mask, struct function *function) MUST_CHECK;

/* Reads the lines of a prototype.  0, -EFAULT or -ENOMEM. */
int lua_lines_read(const struct target_memory *memory, const struct lua_layout *layout,
		   const unsigned char *prototype, struct function *function) MUST_CHECK;
