/*
 * Where coroutine functions return to in glibc: the code that makecontext() makes them return to.
 * Libraries without .symtab have no name for it, so it is recognised by its instructions.
 */
#pragma once

#include "host/unwind/rules/frames.h"

/* Makes entries of that code ends of stacks. */
void context_ends_mark(struct frames *frames, const struct object *object);
/* The same for one entry; its call is looked up at the byte before its beginning, which is
 * included. */
void context_end_mark(struct frame_entry *entry);
