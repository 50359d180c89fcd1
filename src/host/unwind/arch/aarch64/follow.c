/*
 * Follows a frame through a piece of code, from the beginnings of functions along all control flow.
 * Where two flows meet with different frames only what both agree on is known; code that no flow
 * reaches has no rules.
 */
#include "host/unwind/arch/aarch64/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOP            0xd503201fu
#define POP_FRAME      0xa8c17bfdu /* ldp x29, x30, [sp], #16 */
#define SP_IS_FP       0x910003bfu /* mov sp, x29 */
#define FUNCTION_ALIGN 16u
#define HELPER_STEPS   16u /* for each instruction of a piece */
#define REGISTER_FP    29
#define REGISTER_SP    31

int follow_open(struct follow *ret, const struct object_part *piece,
		const struct code_begins *begins)
{
	*ret = (struct follow){ .piece = piece, .begins = begins };
	ret->count = (uint32_t)(MIN(piece->size, CODE_PIECE_MAX) / INSTRUCTION_BYTES);
	ret->states = calloc(ret->count + 1, sizeof(*ret->states));
	ret->visits = calloc(ret->count + 1, sizeof(*ret->visits));
	ret->waiting = calloc(ret->count + 1, sizeof(*ret->waiting));
	ret->tried = calloc(ret->count + 1, sizeof(*ret->tried));
	ret->is_tried = calloc(ret->count + 1, sizeof(*ret->is_tried));
	ret->helper_steps = calloc(1, sizeof(*ret->helper_steps));
	if (!ret->states || !ret->visits || !ret->waiting || !ret->tried || !ret->is_tried ||
	    !ret->helper_steps) {
		follow_close(ret);
		return -ENOMEM;
	}
	*ret->helper_steps = (uint64_t)ret->count * HELPER_STEPS;
	return 0;
}

void follow_close(struct follow *follow)
{
	free(follow->states);
	free(follow->visits);
	free(follow->waiting);
	free(follow->tried);
	free(follow->is_tried);
	free(follow->helper_steps);
	*follow = (struct follow){ 0 };
}

uint32_t follow_word(const struct follow *follow, uint64_t number)
{
	uint32_t word = 0;

	if (number < follow->count)
		memcpy(&word, follow->piece->bytes + number * INSTRUCTION_BYTES, sizeof(word));
	return word;
}

/* What both states agree on.  For a value that is saved, the register does not matter. */
static struct frame_state states_join(const struct frame_state *a, const struct frame_state *b)
{
	struct frame_state both = *a;

	both.is_known = a->is_known && b->is_known && a->fp_saved == b->fp_saved &&
			a->lr_saved == b->lr_saved;
	both.is_sp_lost = a->is_sp_lost || b->is_sp_lost || a->sp_at != b->sp_at;
	if (a->fp != b->fp || (a->fp == HELD_FRAME && a->fp_at != b->fp_at))
		both.fp = HELD_OTHER;
	if (a->lr != b->lr)
		both.lr = HELD_OTHER;
	if (a->lr_in != b->lr_in)
		both.lr_in = NO_COPY;
	if (both.is_sp_lost)
		both.sp_at = 0;
	return both;
}

/* False: what was known before has another frame there, so the guess is wrong. */
static bool guess_may_set(struct follow *follow, uint32_t number)
{
	if (follow->is_tried[number])
		return true;
	if (follow->visits[number] != VISIT_NEVER) {
		follow->is_wrong = true;
		return false;
	}
	follow->is_tried[number] = true;
	follow->tried[follow->tried_count++] = number;
	return true;
}

void follow_arrive(struct follow *follow, uint64_t number, const struct frame_state *state)
{
	struct frame_state before, both;

	if (number >= follow->count ||
	    (follow->is_one_frame && follow->visits[number] != VISIT_NEVER))
		return;
	before = follow->states[number];
	both = follow->visits[number] == VISIT_NEVER ? *state : states_join(&before, state);
	if (follow->visits[number] != VISIT_NEVER && frame_state_is_same(&before, &both))
		return;
	if (follow->is_guess && !guess_may_set(follow, (uint32_t)number))
		return;
	follow->states[number] = both;
	if (follow->visits[number] != VISIT_WAITING)
		follow->waiting[follow->waiting_count++] = (uint32_t)number;
	follow->visits[number] = VISIT_WAITING;
}

void follow_begin(struct follow *follow, uint64_t number)
{
	const struct frame_state state = frame_state_begin();

	follow_arrive(follow, number, &state);
}

/* A function that jumps to another one instead of returning: its frame is gone, whatever sp is
 * (JavaScript's arguments are popped by the callee). */
static bool is_tail_call(const struct follow *follow, uint64_t target,
			 const struct frame_state *state)
{
	uint64_t address = follow->piece->address + target * INSTRUCTION_BYTES;

	if (!follow->begins)
		return false;
	if (begins_has_name(follow->begins, address))
		return true;
	return begins_has(follow->begins, address) && state->fp == HELD_CALLER &&
	       state->lr == HELD_CALLER && state->fp_saved == NOT_SAVED &&
	       state->lr_saved == NOT_SAVED;
}

/* System calls that do not return. */
static bool is_last_call(const struct follow *follow, uint32_t number)
{
	uint32_t before = number ? follow_word(follow, number - 1) : 0;

	return follow_word(follow, number) == CALL_KERNEL &&
	       (before == EXIT || before == EXIT_GROUP || before == RT_SIGRETURN);
}

/* Fills the space between functions. */
bool code_is_padding(uint32_t word)
{
	return word == NOP || !(word >> 16);
}

/* Behind a call that does not return is padding before the next function, or that function. */
static bool ends_function(const struct follow *follow, uint64_t next)
{
	uint64_t at = next;

	while (at < follow->count && code_is_padding(follow_word(follow, at)))
		at++;
	return (at > next || instruction_makes_room(follow_word(follow, at))) &&
	       (follow->piece->address + at * INSTRUCTION_BYTES) % FUNCTION_ALIGN == 0;
}

/* Continues at the next instruction, unless a function begins there, behind a call that does not
 * return. */
static void fall_through(struct follow *follow, uint64_t next, const struct frame_state *state)
{
	if (follow->begins &&
	    begins_has_name(follow->begins, follow->piece->address + next * INSTRUCTION_BYTES))
		return;
	if (follow->is_one_frame || state->lr_saved == NOT_SAVED ||
	    !instruction_begins_function(follow_word(follow, next)))
		follow_arrive(follow, next, state);
	else if (!follow->is_guess)
		follow_begin(follow, next);
}

/* Whether the register with the return address still holds it when the call returns. */
static bool is_kept_by_call(const struct follow *follow, uint32_t number,
			    const struct frame_state *state)
{
	int64_t offset;
	enum flow flow = instruction_flow(follow_word(follow, number), &offset);
	uint64_t target = (uint64_t)((int64_t)number + offset / (int64_t)INSTRUCTION_BYTES);

	return state->lr_in != NO_COPY && flow == FLOW_CALL && offset &&
	       function_keeps(follow, target, state->lr_in);
}

/* V8's functions for parts of others remove their caller's frame, and continue in its place: from
 * there on the state is as at a function's beginning.  This also disproves a guessed beginning. */
static bool pops_callers_frame(const struct follow *follow, uint32_t number,
			       const struct frame_state *state)
{
	bool is_at_begin = !state->is_sp_lost && !state->sp_at && state->lr == HELD_CALLER;
	bool is_at_frame = number && follow_word(follow, number - 1) == SP_IS_FP;

	return !follow->is_guess && !follow->is_one_frame && state->is_known &&
	       follow_word(follow, number) == POP_FRAME && state->fp == HELD_CALLER &&
	       state->fp_saved == NOT_SAVED && state->lr_saved == NOT_SAVED &&
	       (is_at_begin || is_at_frame);
}

static void follow_instruction(struct follow *follow, uint32_t number)
{
	struct frame_state state = follow->states[number];
	uint32_t word = follow_word(follow, number);
	int64_t offset;
	enum flow flow = instruction_flow(word, &offset);
	uint64_t target = (uint64_t)((int64_t)number + offset / (int64_t)INSTRUCTION_BYTES);

	follow->visits[number] = VISIT_DONE;
	follow->is_wrong |= instruction_returns(word) && !frame_state_may_return(&state);
	if (pops_callers_frame(follow, number, &state))
		state = frame_state_begin();
	else
		instruction_apply(word, &state);
	if (flow == FLOW_CALL && !is_kept_by_call(follow, number, &state))
		state.lr_in = NO_COPY;
	if ((flow == FLOW_JUMP || flow == FLOW_BRANCH) && !is_tail_call(follow, target, &state))
		follow_arrive(follow, target, &state);
	if (flow == FLOW_CALL && offset && !follow->is_one_frame && !follow->is_guess)
		follow_begin(follow, target);
	if (flow != FLOW_JUMP && flow != FLOW_END && !is_last_call(follow, number) &&
	    (flow != FLOW_CALL || follow->is_one_frame || !ends_function(follow, number + 1u)))
		fall_through(follow, number + 1u, &state);
}

void follow_run(struct follow *follow)
{
	while (follow->waiting_count)
		follow_instruction(follow, follow->waiting[--follow->waiting_count]);
}

/* Code may save x29 and x30 in its middle, as _dl_tlsdesc_dynamic does where it has to call: then a
 * frame followed from there proves wrong. */
void follow_guess(struct follow *follow, uint32_t number)
{
	follow->is_guess = true;
	follow->is_wrong = false;
	follow_begin(follow, number);
	follow_run(follow);
	for (uint32_t i = 0; i < follow->tried_count; i++) {
		follow->is_tried[follow->tried[i]] = false;
		if (follow->is_wrong)
			follow->visits[follow->tried[i]] = VISIT_NEVER;
	}
	follow->tried_count = 0;
	follow->is_guess = false;
}

static struct rule rule_of(const struct frame_state *state, int32_t saved, uint8_t held)
{
	/* Memory below sp is lost: an epilogue that does not reload what it has saved (assembly
	 * that does not change x30) has it still in the register. */
	if (saved != NOT_SAVED &&
	    !(held == HELD_CALLER && !state->is_sp_lost && saved < state->sp_at))
		return (struct rule){ .kind = RULE_AT, .offset = saved };
	if (held == HELD_ZERO)
		return (struct rule){ .kind = RULE_UNDEFINED };
	return (struct rule){ .kind = held == HELD_CALLER ? RULE_SAME : RULE_OTHER };
}

/* Where a thread begins: code that calls a function, and ends when that returns.  The thread's
 * creator is not its caller. */
static bool begins_thread(const struct follow *follow, uint32_t number)
{
	const struct frame_state *state = &follow->states[number];
	int64_t offset;

	return instruction_flow(follow_word(follow, number), &offset) == FLOW_CALL &&
	       follow_word(follow, number + 1) == EXIT &&
	       follow_word(follow, number + 2) == CALL_KERNEL && state->lr_saved == NOT_SAVED;
}

/* After a call the address is in another register, and for lookups already within the call. */
static struct rule return_rule(const struct follow *follow, uint32_t number, bool *ret_kept)
{
	const struct frame_state *state = &follow->states[number];
	struct rule rule = rule_of(state, state->lr_saved, state->lr);

	*ret_kept = state->lr_saved == NOT_SAVED && is_kept_by_call(follow, number, state);
	if (*ret_kept || (rule.kind == RULE_OTHER && state->lr_in != NO_COPY))
		return (struct rule){ .kind = RULE_IN, .base = state->lr_in };
	return rule;
}

/* sp was moved by a computed number, and nothing else has changed: V8 makes room for arguments so
 * (CallFunction), and removes them before it returns. */
static bool has_only_lost_sp(const struct frame_state *state)
{
	return state->is_sp_lost && state->fp == HELD_CALLER && state->lr == HELD_CALLER &&
	       state->fp_saved == NOT_SAVED && state->lr_saved == NOT_SAVED;
}

struct rules follow_rules(const struct follow *follow, uint32_t number)
{
	const struct frame_state *state = &follow->states[number];
	struct rules rules = { .kind = RULES_FRAME };

	if (follow->visits[number] == VISIT_NEVER || !state->is_known)
		return (struct rules){ .kind = RULES_NONE };
	if (begins_thread(follow, number)) {
		rules.ra.kind = RULE_UNDEFINED;
		return rules;
	}
	rules.fp = rule_of(state, state->fp_saved, state->fp);
	rules.ra = return_rule(follow, number, &rules.is_kept);
	rules.cfa.kind = RULE_OTHER;
	if (state->fp == HELD_FRAME)
		rules.cfa = (struct rule){ RULE_AT, REGISTER_FP, -(int64_t)state->fp_at };
	else if (!state->is_sp_lost)
		rules.cfa = (struct rule){ RULE_AT, REGISTER_SP, -(int64_t)state->sp_at };
	rules.is_low = rules.cfa.kind == RULE_OTHER && has_only_lost_sp(state);
	if (rules.is_low)
		rules.cfa = (struct rule){ RULE_AT, REGISTER_SP, 0 };
	return rules;
}
