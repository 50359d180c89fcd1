/*
 * What is read in the instructions of Go's functions, where its table says too little.  One
 * implementation per machine folder.  All offsets are in bytes from the function's begin.
 */
#pragma once

#include "host/unwind/rules/gopclntab.h"

struct go_prologue {
	uint64_t fp_saved; /* from here on the caller's fp is saved; 0: it is not */
};

/* Where a function calls C on another stack. */
struct go_call {
	uint64_t start, end; /* the call itself; to be 0 before the first */
	unsigned kept;       /* from sp: the goroutine */
};

struct go_machine {
	unsigned elf_machine;
	uint64_t trampoline; /* the first bytes of where signal handlers return to */
	/* `frame` is where the table says that there is a frame.  False: it was not made as Go's
	 * compiler makes frames. */
	bool (*read_prologue)(const struct go_part *code, uint64_t frame, struct go_prologue *ret);
	/* Behind the first instruction from `from` on that takes sp from elsewhere; 0: none. */
	uint64_t (*find_switch)(const struct go_part *code, uint64_t from);
	/* The next call; false: there is none. */
	bool (*find_call)(const struct go_part *code, struct go_call *call);
	/* In systemstack: where in the record of a thread the goroutine is; 0: not seen. */
	unsigned (*find_goroutine)(const struct go_part *code);
};

extern const struct go_machine go_of_aarch64, go_of_x86_64;
extern const struct go_machine *const go_machines[]; /* until NULL */
