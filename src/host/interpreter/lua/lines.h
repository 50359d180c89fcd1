/*
 * Line numbers of Lua code.
 */
#pragma once

#include "host/interpreter/kind.h"
#include "host/interpreter/lua/layout.h"

/* Of a prototype.  0, -EFAULT or -ENOMEM. */
int lua_lines_read(const struct target_memory *memory, const struct lua_layout *layout,
		   const unsigned char *prototype, struct function *function) MUST_CHECK;
