/*
 * Private to the walk*.c files: a walk under way, and its steps.  A step ends with GOES_ON, or with
 * how the stack ends (enum stack_end).
 */
#pragma once

#include "host/unwind/walk.h"

#define WORD        8
#define SIGNALS_MAX 16                  /* frames of signals in one stack */
#define DOUBT_REACH ((uint64_t)8 << 10) /* so far up frames are looked for */

/* What a step says; not an end. */
#define GOES_ON STACK_ENDS

struct walk {
	const struct space *space;
	const struct memory_reader *stack;
	struct walk_registers at;
	const struct space_range *range; /* of at.pc; NULL: no code there */
	bool is_exact;                   /* at.pc is where it stands, not a return address */
	bool was_guided;                 /* the last step was by the frame-pointer rule */
	uint64_t below;                  /* sp of whom it has called */
	uint64_t mask_below;             /* at.mask of whom it has called */
	uint64_t go;          /* what is in the register of goroutines; 0: it is not known */
	uint64_t called_back; /* sp of the last callback from C to Go; 0: none yet */
	unsigned signals;     /* and other switches of stacks */
	bool needs_fp;        /* it ended because the frame pointer is not known */
	/* Behind a function that throws: where the walk was then.  0: nowhere. */
	uint64_t doubted_ra, doubted_sp, doubted_fp;
	uint64_t tried_sp; /* the last one with which the walk went on there; 0: none */
	unsigned doubted_count;
	bool is_guessed;
};

bool walk_read_word(struct walk *walk, uint64_t address, uint64_t *ret);
/* A chain that ended in 0: nobody says that a stack begins here. */
int walk_end_in_zero(const struct walk *walk);
/* The frame pointer is not known. */
int walk_lacks_fp(struct walk *walk);
/* A caller's lr was overwritten by its call. */
bool walk_is_lr_lost(const struct walk *walk);

/* The caller becomes the frame that stands.  Its stack pointer may be the same where ra was not on
 * the stack. */
int walk_step_to(struct walk *walk, uint64_t cfa, uint64_t ra, uint64_t fp, bool may_stay);
/* Steps by a row whose frame ends at cfa, by a rule that needs more than a row, and by what the
 * kernel saved for a signal. */
int walk_step_row(struct walk *walk, const struct unwind_row *row, uint64_t cfa);
int walk_step_special(struct walk *walk, const struct unwind_special *rule);
int walk_step_signal(struct walk *walk);

/* A step out of a function that has left its caller's address elsewhere (walk_context.c). */
int walk_step_context(struct walk *walk, const struct unwind_row *row);

/* Steps to another stack: of Go (walk_switch.c), of LuaJIT. */
int walk_step_gobuf(struct walk *walk, const struct unwind_row *row);
int walk_step_cgo(struct walk *walk, const struct unwind_row *row);
int walk_step_called_back(struct walk *walk, const struct unwind_row *row);
int walk_step_pushed(struct walk *walk, const struct unwind_row *row);
int walk_step_other_fp(struct walk *walk, const struct unwind_row *row);
int walk_step_luajit(struct walk *walk, const struct unwind_row *row);
