/*
 * Corrections of rows where compilers' rules are wrong or missing and instructions show better
 * ones.
 *
 * Rows from `first` on are those of one function, whose code begins at `pc`.  All return -ENOMEM or
 * -EOVERFLOW on failure.
 */
#pragma once

#include "host/unwind/arch/code.h"

/* Rules that leave epilogues out.
 *
 * Compilers that write rules for exceptions only (clang before 15 on aarch64, gcc without
 * -fasynchronous-unwind-tables, some assembly) have no rules for epilogues, and rules of a prologue
 * only after it: within either, a thread's caller is elsewhere.  Such a function is recognised
 * because no rule of it removes its frame again.  So are functions whose stack gcc aligns: behind
 * `leave`, and with gcc before 11 at the `mov` that makes the frame pointer, their rules say that
 * the frame is made. */
int epilogues_mend(struct rows *rows, size_t first, const struct object_part *code,
		   uint32_t pc) MUST_CHECK;

/* Rows between `push NUMBER` and `pop REGISTER`, by which gcc -Oz sets registers: its rules do not
 * say that sp is a word lower there. */
int pushed_numbers_mend(struct rows *rows, size_t first, const struct object_part *code,
			uint32_t pc) MUST_CHECK;

/* Functions that continue in the handler of an exception (UNWIND_THROWS).  Their frames are valid
 * until they install the handler's registers: that is their last call, before they jump away with a
 * computed stack pointer.  Clears the mark where the frame is still valid; keeps it everywhere when
 * the call is not found. */
int throwers_narrow(struct rows *rows, size_t first, const struct object_part *code,
		    uint32_t pc) MUST_CHECK;

/* Callers whose frame is found by a register, as that of the loader's _dl_runtime_resolve is by
 * rbx: during a call it is on the stack, if the callee has saved it.  Adds rows at such calls. */
int calls_add_rows(struct rows *rows, size_t first, const struct object *object,
		   const struct object_part *code, uint32_t pc) MUST_CHECK;

/* swapcontext() of glibc where .eh_frame has no rules (aarch64): it stores its return address in
 * the context that it saves, and writes another address to that register. */
int swap_rules_add(struct rows *rows, const struct object_part *code, uint32_t pc) MUST_CHECK;
/* Whether the file may have such a function: its name is in the file. */
bool swap_is_named(const struct object *object);

/* The assembly of LuaJIT in a file that has one: its rules give the frame between calls within the
 * assembly.  They become UNWIND_LUAJIT. */
void luajit_rules_mark(const struct object *object, struct rows *rows);
/* The row of code that LuaJIT compiles, on this machine. */
extern const struct unwind_row luajit_compiled;
