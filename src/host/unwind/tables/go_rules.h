/*
 * Rules for the code of Go, from its table of functions: the compiler keeps the size of the frame
 * at each instruction there, for its own walks.  The same in all Go programs, stripped or not, and
 * with where the caller's fp is saved, which Go's .debug_frame lacks.
 *
 * Some functions of its runtime switch stacks.  They are known by their names:
 *
 *   goexit, mstart, rt0_go, mcall       a stack ends there (ends.c)
 *   systemstack, morestack              run on the thread's own stack (g0); the goroutine's
 *                                       registers are in its gobuf: UNWIND_GO_GOBUF
 *   asmcgocall                          calls C on g0, and saves there what it needs to switch
 *                                       back: UNWIND_GO_CGO
 *   others that write sp (nanotime1)    fp stays, and leads to the frame
 */
#pragma once

#include "host/unwind/elf/object.h"
#include "host/unwind/rules/gopclntab.h"
#include "host/unwind/rules/rows.h"

struct go_code {
	struct gopclntab table;
	const struct object *object;
	const struct go_machine *machine;
	unsigned goroutine_at; /* the goroutine's offset in a thread's record (m); 0: unknown */
};

/* False: the file has no such table. */
bool go_code_open(struct go_code *ret, const struct object *object);
/* Adds entries for its functions, in place of others.  -ENOMEM. */
int go_code_add(const struct go_code *code, struct frames *frames) MUST_CHECK;
/* The rows of one function; addresses are relative to `first`.  -ENOMEM; -EOVERFLOW. */
int go_code_compile(const struct go_code *code, uint32_t number, uint64_t first,
		    struct rows *rows) MUST_CHECK;
