/*
 * The source of a function of Lua or LuaJIT: a chunk, compiled from a file or a text.
 */
#pragma once

#include "host/interpreter/kind.h"

/* The file and the name, from the name of the chunk ("@file", "=name", or a text itself) at this
 * address and function->first_line.  0, -EFAULT or -ENOMEM. */
int lua_chunk_read(const struct target_memory *memory, uint64_t name,
		   struct function *function) MUST_CHECK;
