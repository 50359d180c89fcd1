/*
 * Private to the walk*.c files: the state of a walk, and its steps.  A step returns GOES_ON, or how
 * the stack ends (enum stack_end).
 */
#pragma once

#include "host/unwind/walk.h"

#define WORD        8
#define SIGNALS_MAX 16                  /* frames of signals in one stack */
#define DOUBT_REACH ((uint64_t)8 << 10) /* how far up frames are searched for */

/* The result of a step that is not an end. */
#define GOES_ON STACK_ENDS

struct walk {
	const struct space *space;
	const struct memory_reader *stack;
	struct walk_registers at;
	const struct space_range *range; /* of at.pc; NULL: no code there */
	bool is_exact;                   /* at.pc is an interrupted pc, not a return address */
	bool was_guided;                 /* the last step was by the frame-pointer rule */
	uint64_t below;                  /* sp of its callee */
	uint64_t mask_below;             /* at.mask of its callee */
	uint64_t go;                     /* the goroutine register; 0: not known */
	uint64_t called_back;            /* sp of the last callback from C to Go; 0: none yet */
	unsigned signals;                /* signal frames, and other switches of stacks */
	bool needs_fp;                   /* it ended because the frame pointer is not known */
	/* After a function that throws: the state of the walk then.  0: none. */
	uint64_t doubted_ra, doubted_sp, doubted_fp;
	uint64_t tried_sp; /* the last one tried for a continuation; 0: none */
	unsigned doubted_count;
	bool is_guessed;
};

bool walk_read_word(struct walk *walk, uint64_t address, uint64_t *ret);
/* A chain that ended in 0: no rule marks this as an end of the stack. */
int walk_end_in_zero(const struct walk *walk);
/* The frame pointer is not known. */
int walk_lacks_fp(struct walk *walk);
/* A caller's lr was overwritten by its call. */
bool walk_is_lr_lost(const struct walk *walk);

/* The caller becomes the present frame.  Its stack pointer may be the same where ra was not on the
 * stack. */
int walk_step_to(struct walk *walk, uint64_t cfa, uint64_t ra, uint64_t fp, bool may_stay);
/* Steps by a row whose frame ends at cfa, by a rule that needs more than a row, and by the kernel's
 * signal frame. */
int walk_step_row(struct walk *walk, const struct unwind_row *row, uint64_t cfa);
int walk_step_special(struct walk *walk, const struct unwind_special *rule);
int walk_step_signal(struct walk *walk);

/* A step out of a function that has stored its return address elsewhere (walk_context.c). */
int walk_step_context(struct walk *walk, const struct unwind_row *row);

/* Steps to another stack: of Go (walk_switch.c), of LuaJIT. */
int walk_step_gobuf(struct walk *walk, const struct unwind_row *row);
int walk_step_cgo(struct walk *walk, const struct unwind_row *row);
int walk_step_called_back(struct walk *walk, const struct unwind_row *row);
int walk_step_pushed(struct walk *walk, const struct unwind_row *row);
int walk_step_other_fp(struct walk *walk, const struct unwind_row *row);
int walk_step_luajit(struct walk *walk, const struct unwind_row *row);
