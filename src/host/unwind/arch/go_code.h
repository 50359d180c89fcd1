/*
 * What is read in the instructions of Go's functions, where Go's table does not suffice.  One
 * implementation per machine folder.  All offsets are in bytes from the function's beginning.
 */
#pragma once

#include "host/unwind/rules/gopclntab.h"

struct go_prologue {
	uint64_t fp_saved; /* from here on the caller's fp is saved; 0: it is not */
};

/* Where a function calls C on another stack. */
struct go_call {
	uint64_t start, end; /* the call itself; 0 before the first */
	unsigned kept;       /* offset from sp: the saved goroutine */
};

struct go_machine {
	uint64_t trampoline; /* the first bytes that signal handlers return to */
	/* `frame`: the offset at which the table has a frame.  False: not a frame by Go's
	 * compiler. */
	bool (*read_prologue)(const struct go_part *code, uint64_t frame, struct go_prologue *ret);
	/* The end of the first instruction from `from` on that loads sp; 0: none. */
	uint64_t (*find_switch)(const struct go_part *code, uint64_t from);
	/* The next call; false: there is none. */
	bool (*find_call)(const struct go_part *code, struct go_call *call);
	/* In systemstack: the offset of the goroutine in a thread's record; 0: not found. */
	unsigned (*find_goroutine)(const struct go_part *code);
};

extern const struct go_machine go_of_aarch64, go_of_x86_64;
