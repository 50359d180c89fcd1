/*
 * Where the parts of a frame are at one instruction of code without rules, and the instruction's
 * effect on them.  Without knowledge of functions; code.c follows those.
 */
#pragma once

#include "host/unwind/arch/x86_64/instruction.h"
#include "host/unwind/rules/rules.h"

#define REGISTERS 16u

/* The base of offsets. */
enum location_base {
	BASE_UNKNOWN,
	BASE_CFA,     /* the caller's rsp */
	BASE_ALIGNED, /* rsp's value after it was rounded down */
};

struct location {
	uint8_t base; /* enum location_base */
	int32_t offset;
};

struct code_state {
	struct location registers[REGISTERS]; /* what they point to */
	struct location saved_fp;             /* address of the caller's rbp; BASE_UNKNOWN: none */
	struct location kept; /* address of a word that is CFA + kept_value; BASE_UNKNOWN */
	int32_t kept_value;
	bool has_callers_fp; /* rbp is the caller's, still or again */
	bool is_lost;        /* nothing of this is valid */
};

/* At a function's beginning. */
struct code_state code_state_begin(void);
bool code_state_equals(const struct code_state *a, const struct code_state *b);
/* The state after the instruction. */
void code_state_step(struct code_state *state, const struct instruction *it);
/* As at the beginning: a function may return there. */
bool code_state_is_balanced(const struct code_state *state);
/* The caller's rbp is lost: the caller of such a function has saved it. */
bool code_state_lacks_fp(const struct code_state *state);
/* After a call: restores the registers of `before` that the callee kept, a bit for each. */
void code_state_keep(struct code_state *state, const struct code_state *before, uint16_t kept);
/* Whether a call loses a register that leads to the caller. */
bool code_state_needs_scratch(const struct code_state *state);
/* The number in instructions of a register that calls may change, from that of DWARF;
 * REGISTER_NONE: not one of these. */
unsigned code_scratch_register(unsigned dwarf);
/* What both states agree on. */
struct code_state code_state_meet(const struct code_state *a, const struct code_state *b);

/* RULES_NONE: there is no rule. */
struct rules code_state_rules(const struct code_state *state);
