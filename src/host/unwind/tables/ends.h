/*
 * Known ends of stacks: only a walk that reaches one is complete.
 *
 *   what                                              how it is known
 *   the outermost frame by its unwind rule            ra is undefined there: UNWIND_END of rows.c;
 *   (_start, clone and start_thread of glibc)         or it is set to 0 by instructions (aarch64)
 *   the entry point of a file (_start)                e_entry of its header
 *   the stack on which the kernel began the program   a caller of 0, and sp is where its arguments
 *   (musl on aarch64 jumps from _start)               lie: start_stack of its memory
 *   a thread's first function without rules (musl)    the code behind the call ends the thread:
 *                                                     THREAD_END of shared/arch/signal_frame.h
 *   a coroutine's base                                its name: known_ends[], or, in glibc, its
 *                                                     instructions: context_ends.h
 *   a goroutine's base, a thread of Go's scheduler    its name: known_ends[]
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
