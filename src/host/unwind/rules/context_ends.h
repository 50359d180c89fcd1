/*
 * Where the functions of coroutines return to in glibc: the code that makecontext() lets them
 * return to.  Libraries without .symtab have no name for it, so it is known by its instructions.
 */
#pragma once

#include "host/unwind/rules/frames.h"

/* Makes entries of that code ends of stacks. */
void context_ends_mark(struct frames *frames, const struct object *object);
/* The same for the code of one entry; a call of it is looked up at the byte before its begin: that
 * belongs to it, too. */
void context_end_mark(struct frame_entry *entry);
