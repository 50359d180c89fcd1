/*
 * Mends the rows of a function whose rules leave its epilogues out.  Host only.
 *
 * Compilers that write rules for exceptions only (clang before 15 on aarch64, gcc without
 * -fasynchronous-unwind-tables, some assembly) say nothing of epilogues, and place the rules of a
 * prologue behind it: between, a thread that is stopped there has its caller elsewhere.  Such a
 * function is known by this: once its frame is there, no rule of it ever takes it down again.  Its
 * instructions are then read.  So are those of functions whose stack gcc aligns: behind `leave`,
 * and with gcc before 11 at the `mov` that makes the frame pointer, their rules say that it is
 * made.
 */
#pragma once

#include "host/unwind/rules/rows.h"

/* Rows from `first` on are the function's, `pc` is that of the code's begin.  -ENOMEM, -EOVERFLOW.
 */
int epilogues_mend(struct rows *rows, size_t first, const struct object_part *code,
		   uint32_t pc) MUST_CHECK;
