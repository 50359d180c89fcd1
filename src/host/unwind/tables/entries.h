/*
 * Entries for code of which frames are known without .eh_frame: known ends of stacks, stubs of the
 * linker, and gaps, whose instructions are read.
 */
#pragma once

#include "host/unwind/rules/frames.h"

enum end_extent {
	END_WHOLE,    /* all of the function */
	END_TAIL,     /* its last instructions, to which a coroutine's function returns */
	END_SWITCHED, /* from the switch of stacks on */
	END_RETURNED, /* all of it; a coroutine's function returns to its beginning */
};

struct known_end {
	const char *name;
	enum end_extent extent;
};

/* NULL: a function of this name is no end. */
const struct known_end *known_end_find(const char *name);

/* Adds entries for the ends in an ELF file, in place of others.  -ENOMEM. */
int ends_add(struct frames *frames, const struct object *object) MUST_CHECK;
/* Where coroutine functions return to in glibc: the code that makecontext() makes them return to.
 * Libraries without .symtab have no name for it, so it is recognised by its instructions. */
void context_ends_mark(struct frames *frames, const struct object *object);

/* The table of stubs through which a program calls its libraries (.plt), where the linker wrote no
 * rules for it: lld does not, and GNU ld does not in programs that are linked statically.  The
 * section, when its code has the expected shape; else a part of size 0. */
struct object_part stubs_find(const struct object *object);
/* Adds the entry that a linker would have written, unless the code has one.  -ENOMEM. */
int stubs_add(struct frames *frames, const struct object_part *stubs) MUST_CHECK;

/* Adds an entry for each piece of executable segments without one; instructions begin at multiples
 * of `step`.  -ENOMEM. */
int gaps_add(struct frames *frames, const struct object *object, unsigned step) MUST_CHECK;
