/*
 * The parts of a frame at one instruction, and the instruction's effect on them.  Offsets on the
 * stack are only meaningful relative to each other.
 */
#pragma once

#include "shared/unwind/row.h"

#include "host/unwind/arch/x86_64/instruction.h"

#include <stdbool.h>

enum frame_cfa {
	CFA_AT,       /* at `cfa` */
	CFA_SENDER,   /* in the word below rbp: HotSpot's interpreter */
	CFA_REGISTER, /* in the register `cfa` */
	CFA_LOST,
};

struct frame_state {
	enum frame_cfa cfa_kind;
	bool has_sp, has_fp; /* the contents of rsp and rbp are known: */
	int32_t sp, fp;
	int32_t cfa;
	int32_t ra;               /* where the return address is, */
	unsigned ra_register;     /* unless it is in one: else REGISTER_NONE */
	int32_t saved_fp;         /* where the caller's rbp is, */
	bool is_fp_saved;         /* unless it is in rbp still */
	unsigned ra_copy;         /* a register that has the return address, too */
	unsigned sender_register; /* the register with the CFA of CFA_SENDER */
	bool was_fp_pushed;       /* by the instruction before */
};

/* At the entry of a called function. */
struct frame_state frame_at_entry(void);
/* Behind a prologue that pushed rbp and made a frame of so many bytes in all. */
struct frame_state frame_of_size(uint32_t size);
/* In a frame that rbp leads to, and of which nothing else is known. */
struct frame_state frame_at_fp(void);
/* At the entry of code jumped to from a frame, with the return address in rdx. */
struct frame_state frame_at_exception(void);
/* At the begin of a method in the interpreter: rbp is the caller's, r13 the caller's rsp. */
struct frame_state frame_at_interpreted_entry(void);
/* In the middle of the interpreter. */
struct frame_state frame_interpreted(void);
struct frame_state frame_lost(void);

/* Facts about the code. */
struct frame_habits {
	bool is_adapter; /* it may align the stack and push the return address again */
	bool is_aligned; /* the caller's rsp is a multiple of 16 */
};

void frame_step(struct frame_state *frame, const struct instruction *instruction,
		struct frame_habits habits);

/* The rule of a state; false: there is none. */
bool frame_rule(const struct frame_state *frame, struct unwind_special *ret);

/* Whether two states have the same rule. */
bool frame_agrees(const struct frame_state *a, const struct frame_state *b);
/* Of two that agree: the facts common to both. */
struct frame_state frame_common(const struct frame_state *a, const struct frame_state *b);
/* The same to the last register. */
bool frame_equals(const struct frame_state *a, const struct frame_state *b);
