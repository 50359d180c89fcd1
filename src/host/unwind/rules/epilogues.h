/*
 * Corrects the rows of a function whose rules omit its epilogues.
 *
 * Compilers that write rules for exceptions only (clang before 15 on aarch64, gcc without
 * -fasynchronous-unwind-tables, some assembly) have no rules for epilogues, and rules of a prologue
 * only after it: within either, a thread's caller is elsewhere.  Such a function is recognised
 * because no rule of it removes its frame again.  Its instructions are then decoded.  So are
 * those of functions whose stack gcc aligns: behind `leave`, and with gcc before 11 at the `mov`
 * that makes the frame pointer, their rules say that the frame is made.
 */
#pragma once

#include "host/unwind/rules/rows.h"

/* Rows from `first` on are the function's, `pc` is that of the code's beginning.  -ENOMEM,
 * -EOVERFLOW. */
int epilogues_mend(struct rows *rows, size_t first, const struct object_part *code,
		   uint32_t pc) MUST_CHECK;
