/*
 * The memory layout of objects by version of Lua.
 */
#pragma once

#include "shared/wire/kernel.h"

#include <stdint.h>

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

/* NULL: it is not known. */
const struct lua_layout *lua_layout_find(unsigned version);
