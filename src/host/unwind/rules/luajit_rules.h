/*
 * The assembly of LuaJIT in a file that has one.
 */
#pragma once

#include "host/unwind/object.h"
#include "host/unwind/rules/rows.h"

/* The row of code that LuaJIT compiles, on this machine. */
extern const struct unwind_row luajit_compiled;

/* Its rules give the frame between calls within the assembly: they become UNWIND_LUAJIT. */
void luajit_rules_mark(const struct object *object, struct rows *rows);
