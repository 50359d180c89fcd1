/*
 * Follows a frame from one instruction of x86-64 to the next.
 */
#include "host/unwind/arch/x86_64/code_state.h"

#include <string.h>

#define SLOT     8
#define FARTHEST (1 << 24) /* no frame is larger */

static const struct location nowhere = { BASE_UNKNOWN, 0 };

/* Registers whose values a callee may use or change: rax, rcx, rdx, rsi, rdi, r8 to r11. */
static const unsigned char scratch[] = { 0, 1, 2, 6, 7, 8, 9, 10, 11 };

struct code_state code_state_begin(void)
{
	struct code_state state = { .has_callers_fp = true };

	state.registers[REGISTER_RSP] = (struct location){ BASE_CFA, -SLOT };
	return state;
}

static struct code_state state_lost(void)
{
	return (struct code_state){ .is_lost = true };
}

static bool location_equals(struct location a, struct location b)
{
	return a.base == b.base && (a.base == BASE_UNKNOWN || a.offset == b.offset);
}

bool code_state_equals(const struct code_state *a, const struct code_state *b)
{
	for (unsigned i = 0; i < REGISTERS; i++)
		if (!location_equals(a->registers[i], b->registers[i]))
			return false;
	return a->is_lost == b->is_lost && a->has_callers_fp == b->has_callers_fp &&
	       location_equals(a->saved_fp, b->saved_fp) && location_equals(a->kept, b->kept) &&
	       (a->kept.base == BASE_UNKNOWN || a->kept_value == b->kept_value);
}

static struct location location_plus(struct location location, int64_t by)
{
	int64_t offset = location.offset + by;

	if (location.base == BASE_UNKNOWN || offset > FARTHEST || offset < -FARTHEST)
		return nowhere;
	location.offset = (int32_t)offset;
	return location;
}

static void set_register(struct code_state *state, unsigned to, struct location value)
{
	if (to >= REGISTERS)
		return;
	state->registers[to] = value;
	if (to == REGISTER_RBP)
		state->has_callers_fp = false;
	/* No function pops its own return address and continues. */
	if (to == REGISTER_RSP && value.base == BASE_CFA && value.offset > -SLOT)
		*state = state_lost();
}

static struct location location_of(const struct code_state *state, unsigned number, int64_t offset)
{
	return number < REGISTERS ? location_plus(state->registers[number], offset) : nowhere;
}

static bool is_at(struct location known, struct location location)
{
	return known.base != BASE_UNKNOWN && location_equals(known, location);
}

static void register_store(struct code_state *state, struct location at, unsigned from)
{
	struct location value = location_of(state, from, 0);

	if (at.base == BASE_UNKNOWN)
		return;
	if (is_at(state->saved_fp, at)) /* the slot is reused while rbp is needed */
		*state = state_lost();
	else if (from == REGISTER_RBP && state->has_callers_fp &&
		 state->saved_fp.base == BASE_UNKNOWN)
		state->saved_fp = at;
	else if (is_at(state->kept, at))
		state->kept = nowhere;
	if (value.base == BASE_CFA && state->kept.base == BASE_UNKNOWN) {
		state->kept = at;
		state->kept_value = value.offset;
	}
}

static void register_load(struct code_state *state, unsigned to, struct location at)
{
	bool is_fp = to == REGISTER_RBP && is_at(state->saved_fp, at);
	struct location value = nowhere;

	if (is_at(state->kept, at))
		value = (struct location){ BASE_CFA, state->kept_value };
	set_register(state, to, is_fp ? nowhere : value);
	if (is_fp) {
		state->has_callers_fp = true;
		state->saved_fp = nowhere;
	}
}

static void step_push(struct code_state *state, unsigned from)
{
	struct location at = location_of(state, REGISTER_RSP, -SLOT);

	register_store(state, at, from);
	if (!state->is_lost)
		set_register(state, REGISTER_RSP, at);
}

static void step_pop(struct code_state *state, unsigned to)
{
	struct location at = location_of(state, REGISTER_RSP, 0);

	set_register(state, REGISTER_RSP, location_plus(at, SLOT));
	if (!state->is_lost)
		register_load(state, to, at);
}

static void step_leave(struct code_state *state)
{
	set_register(state, REGISTER_RSP, location_of(state, REGISTER_RBP, 0));
	if (!state->is_lost)
		step_pop(state, REGISTER_RBP);
}

static void step_align(struct code_state *state, unsigned to)
{
	if (to != REGISTER_RSP) {
		set_register(state, to, nowhere);
		return;
	}
	/* Slots of a frame that was aligned before are not known relative to this one. */
	for (unsigned i = 0; i < REGISTERS; i++)
		if (state->registers[i].base == BASE_ALIGNED)
			state->registers[i] = nowhere;
	if (state->kept.base == BASE_ALIGNED)
		state->kept = nowhere;
	if (state->saved_fp.base == BASE_ALIGNED)
		*state = state_lost();
	state->registers[REGISTER_RSP] = (struct location){ BASE_ALIGNED, 0 };
}

static void step_call(struct code_state *state, const struct instruction *it)
{
	if (it->target == it->size) { /* call to the next instruction: reads the pc */
		step_push(state, REGISTER_NONE);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(scratch); i++)
		state->registers[scratch[i]] = nowhere;
}

void code_state_keep(struct code_state *state, const struct code_state *before, uint16_t kept)
{
	for (size_t i = 0; i < ARRAY_SIZE(scratch); i++)
		if (kept >> scratch[i] & 1)
			state->registers[scratch[i]] = before->registers[scratch[i]];
}

bool code_state_needs_scratch(const struct code_state *state)
{
	if (state->registers[REGISTER_RSP].base == BASE_CFA)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(scratch); i++)
		if (state->registers[scratch[i]].base == BASE_CFA)
			return true;
	return false;
}

void code_state_step(struct code_state *state, const struct instruction *it)
{
	if (state->is_lost)
		return;
	switch (it->kind) {
	case INSTRUCTION_PUSH:
		step_push(state, it->from);
		break;
	case INSTRUCTION_POP:
		step_pop(state, it->to);
		break;
	case INSTRUCTION_MOVE:
		set_register(state, it->to, location_of(state, it->from, 0));
		break;
	case INSTRUCTION_LOAD:
		register_load(state, it->to, location_of(state, it->from, it->value));
		break;
	case INSTRUCTION_STORE:
		register_store(state, location_of(state, it->to, it->value), it->from);
		break;
	case INSTRUCTION_ADD:
	case INSTRUCTION_ADDRESS:
		set_register(state, it->to, location_of(state, it->from, it->value));
		break;
	case INSTRUCTION_ALIGN:
		step_align(state, it->to);
		break;
	case INSTRUCTION_SET:
		set_register(state, it->to, nowhere);
		break;
	case INSTRUCTION_LEAVE:
		step_leave(state);
		break;
	case INSTRUCTION_CALL:
		step_call(state, it);
		break;
	default:
		break;
	}
}

bool code_state_lacks_fp(const struct code_state *state)
{
	return !state->has_callers_fp && state->saved_fp.base == BASE_UNKNOWN;
}

bool code_state_is_balanced(const struct code_state *state)
{
	const struct location sp = state->registers[REGISTER_RSP];

	return !state->is_lost && (state->saved_fp.base == BASE_UNKNOWN || state->has_callers_fp) &&
	       sp.base == BASE_CFA && sp.offset == -SLOT;
}

struct code_state code_state_meet(const struct code_state *a, const struct code_state *b)
{
	struct code_state both = *a;

	if (a->is_lost || b->is_lost || !location_equals(a->saved_fp, b->saved_fp))
		return state_lost();
	for (unsigned i = 0; i < REGISTERS; i++)
		if (!location_equals(a->registers[i], b->registers[i]))
			both.registers[i] = nowhere;
	if (!location_equals(a->kept, b->kept) || a->kept_value != b->kept_value)
		both.kept = nowhere;
	both.has_callers_fp = a->has_callers_fp && b->has_callers_fp;
	return both;
}

unsigned code_scratch_register(unsigned dwarf)
{
	for (size_t i = 0; i < ARRAY_SIZE(scratch); i++)
		if (dwarf_number(scratch[i]) == dwarf)
			return scratch[i];
	return REGISTER_NONE;
}

/* By the kept word, from rbp or rsp; RULE_OTHER: neither leads there. */
static struct rule rule_by_kept(const struct code_state *state)
{
	static const unsigned char from[] = { REGISTER_RBP, REGISTER_RSP };

	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		struct location base = state->registers[from[i]];

		if (base.base != BASE_UNKNOWN && base.base == state->kept.base &&
		    state->kept_value <= 0)
			return (struct rule){ .kind = RULE_BY_WORD,
					      .base = dwarf_number(from[i]),
					      .offset = state->kept.offset - base.offset,
					      .addition = -(int64_t)state->kept_value };
	}
	return (struct rule){ .kind = RULE_OTHER };
}

/* A frame pointer is most reliable; then rsp, a word of the frame, and last a register, which only
 * the innermost frame knows. */
static struct rule cfa_of(const struct code_state *state)
{
	static const unsigned char first[] = { REGISTER_RBP, REGISTER_RSP };
	struct rule kept;

	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		if (state->registers[first[i]].base == BASE_CFA)
			return (struct rule){ RULE_AT, dwarf_number(first[i]),
					      -(int64_t)state->registers[first[i]].offset };
	kept = rule_by_kept(state);
	for (unsigned i = 0; kept.kind == RULE_OTHER && i < REGISTERS; i++)
		if (state->registers[i].base == BASE_CFA)
			return (struct rule){ RULE_AT, dwarf_number(i),
					      -(int64_t)state->registers[i].offset };
	return kept;
}

static struct rule fp_of(const struct code_state *state)
{
	struct location fp = state->registers[REGISTER_RBP];

	if (code_state_lacks_fp(state)) /* the return address leads to no frame */
		return (struct rule){ .kind = RULE_AT, .offset = -SLOT };
	if (state->saved_fp.base == BASE_UNKNOWN)
		return (struct rule){ .kind = RULE_SAME };
	if (state->saved_fp.base == BASE_CFA)
		return (struct rule){ .kind = RULE_AT, .offset = state->saved_fp.offset };
	if (fp.base != BASE_ALIGNED)
		return (struct rule){ .kind = state->has_callers_fp ? RULE_SAME : RULE_OTHER };
	return (struct rule){ .kind = RULE_AT_FP, .offset = state->saved_fp.offset - fp.offset };
}

struct rules code_state_rules(const struct code_state *state)
{
	struct rules rules = { .kind = RULES_FRAME };

	if (state->is_lost)
		return (struct rules){ .kind = RULES_NONE };
	rules.cfa = cfa_of(state);
	rules.fp = fp_of(state);
	rules.ra = (struct rule){ .kind = RULE_AT, .offset = -SLOT };
	if (rules.cfa.kind == RULE_OTHER || rules.fp.kind == RULE_OTHER)
		return (struct rules){ .kind = RULES_NONE };
	return rules;
}
