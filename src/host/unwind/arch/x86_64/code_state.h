/*
 * Where the parts of a frame are at one instruction of code that nobody wrote rules for, and what
 * the instruction does to them.  Knows nothing of functions; code.c follows them.
 */
#pragma once

#include "host/unwind/arch/x86_64/instruction.h"
#include "host/unwind/rules/rules.h"

#define REGISTERS 16u

/* From where offsets count. */
enum place_base {
	PLACE_UNKNOWN,
	PLACE_CFA,     /* the caller's rsp */
	PLACE_ALIGNED, /* what rsp was after it was rounded down */
};

struct place {
	uint8_t base; /* enum place_base */
	int32_t offset;
};

struct code_state {
	struct place registers[REGISTERS]; /* what they point to */
	struct place saved_fp;             /* where the caller's rbp lies; PLACE_UNKNOWN: nowhere */
	struct place kept; /* where a word lies that is CFA + kept_value; PLACE_UNKNOWN */
	int32_t kept_value;
	bool has_callers_fp; /* rbp is the caller's still, or again */
	bool is_lost;        /* nothing of this is true */
};

/* Where a function begins. */
struct code_state code_state_begin(void);
bool code_state_equals(const struct code_state *a, const struct code_state *b);
/* The state behind the instruction. */
void code_state_step(struct code_state *state, const struct instruction *it);
/* As at the begin: a function may return there. */
bool code_state_is_balanced(const struct code_state *state);
/* The caller's rbp is nowhere any more: who calls such a function has saved it himself. */
bool code_state_lacks_fp(const struct code_state *state);
/* Behind a call: registers of `before` that it did not change after all, a bit for each. */
void code_state_keep(struct code_state *state, const struct code_state *before, uint16_t kept);
/* Whether a call takes something from it that leads to the caller. */
bool code_state_needs_scratch(const struct code_state *state);
/* The number in instructions of a register that calls may change, by that of DWARF; REGISTER_NONE:
 * it is none of these. */
unsigned code_scratch_register(unsigned dwarf);
/* What both know. */
struct code_state code_state_meet(const struct code_state *a, const struct code_state *b);

/* Room for the expressions of rules. */
struct code_expressions {
	unsigned char cfa[16], fp[16];
};

/* RULES_NONE: there is no rule.  Expressions lie in the room. */
struct rules code_state_rules(const struct code_state *state, struct code_expressions *room);
