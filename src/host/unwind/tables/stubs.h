/*
 * The table of stubs through which a program calls its libraries (.plt), where the linker wrote no
 * rules for it: lld does not, and GNU ld does not in programs that are linked statically.
 */
#pragma once

#include "host/unwind/rules/frames.h"

/* The section, when its code has the expected shape; else a part of size 0. */
struct object_part stubs_find(const struct object *object);
/* Adds the entry that a linker would have written, unless the code has one.  -ENOMEM. */
int stubs_add(struct frames *frames, const struct object_part *stubs) MUST_CHECK;
