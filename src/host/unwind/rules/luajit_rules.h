/*
 * The assembly of LuaJIT in a file that has one.
 */
#pragma once

#include "host/unwind/object.h"
#include "host/unwind/rules/rows.h"

/* What it compiles, on this machine. */
extern const struct unwind_row luajit_compiled;

/* Its rules say what the frame is between calls within the assembly: they become UNWIND_LUAJIT. */
void luajit_rules_mark(const struct object *object, struct rows *rows);
