/*
 * Private to the kinds Lua and LuaJIT: the chunks of functions.
 */
#pragma once

#include "host/interpreter/kind.h"

/* Reads the file and the name of a function from the name of its chunk ("@file", "=name", or a text
 * itself) and function->first_line.  `text`: the address of that name, whose byte kind_at has its
 * kind, in these bits.  0, -EFAULT or -ENOMEM. */
int lua_chunk_read(const struct target_memory *memory, uint64_t text, unsigned kind_at,
		   unsigned kind_mask, struct function *function) MUST_CHECK;
