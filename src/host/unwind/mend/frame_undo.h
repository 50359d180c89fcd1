/*
 * The parts of a frame before an instruction, from those after it.
 *
 * At a return all is known: sp and fp are the caller's, and so is the return address where the
 * machine keeps it.  From there the rules go back, instruction by instruction, through an epilogue;
 * and through a prologue from where its rules begin.
 */
#pragma once

#include "host/unwind/arch/frame_step.h"
#include "host/unwind/rules/rows.h"

#define FRAME_NOT_SAVED INT32_MAX /* the register has the caller's value */

/* Offsets in bytes from the CFA. */
struct frame_parts {
	bool is_by_fp; /* CFA = fp + cfa, else sp + cfa */
	int32_t cfa;
	int32_t fp_saved, ra_saved; /* ra_saved stays FRAME_NOT_SAVED where calls push it */
};

/* As a call leaves them for a function, and as a return must find them. */
struct frame_parts frame_parts_begin(const struct unwind_machine *machine);
bool frame_parts_equal(const struct frame_parts *a, const struct frame_parts *b);
/* False: not such a row. */
bool frame_parts_of_row(const struct rows *rows, const struct unwind_row *row,
			struct frame_parts *ret);
struct rules frame_parts_rules(const struct unwind_machine *machine,
			       const struct frame_parts *parts);
/* Whether the step saves a register that the rules have there already. */
bool frame_saves_late(const struct frame_step *step, const struct frame_parts *said);
/* `parts`: after the step, and on return before it.  -ENODATA: unknown; -EBADMSG: no function has
 * such a frame there. */
int frame_undo(const struct unwind_machine *machine, const struct frame_step *step,
	       struct frame_parts *parts) MUST_CHECK;
