/*
 * Tries functions.  Host only.  All that is wrong shows at a return: who does not find the frame
 * there as it was at the begin did not begin at a function, or went through a call that does not
 * return; then nothing of the function is believed.
 */
#include "host/unwind/arch/x86_64/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"
#include "host/unwind/arch/code.h"

#define STEPS_PER_BYTE 16u
#define ROUNDS_MAX     64u /* in which ways out are looked for */
#define BREAKPOINT     0xccu
#define FUNCTION_ALIGN 16u
#define NOTHING_PUSHED (-8)
#define LEA_SIZE       7u /* of lea there(%rip), %register */

int trial_open(struct trial *ret, const struct object_part *piece, const struct code_begins *begins)
{
	*ret = (struct trial){ .piece = piece, .begins = begins };
	ret->size = (uint32_t)MIN(piece->size, CODE_PIECE_MAX);
	ret->steps_left = (uint64_t)ret->size * STEPS_PER_BYTE;
	ret->numbers = calloc(ret->size + 1, sizeof(*ret->numbers));
	ret->marks = calloc(ret->size + 1, sizeof(*ret->marks));
	ret->waiting = calloc(ret->size + 1, sizeof(*ret->waiting));
	ret->seen = calloc(ret->size + 1, sizeof(*ret->seen));
	if (ret->numbers && ret->marks && ret->waiting && ret->seen)
		return 0;
	trial_close(ret);
	return -ENOMEM;
}

void trial_close(struct trial *trial)
{
	free(trial->numbers);
	free(trial->marks);
	free(trial->waiting);
	free(trial->seen);
	free(trial->states);
	free(trial->changes);
	*trial = (struct trial){ 0 };
}

unsigned trial_read(const struct trial *trial, uint32_t at, struct instruction *ret)
{
	if (at >= trial->size || instruction_read(ret, trial->piece->bytes + at, trial->size - at))
		return 0;
	return ret->size;
}

/* nop, of one byte or with prefixes and operands. */
static bool is_nop(const unsigned char *bytes, unsigned size)
{
	unsigned at = 0;

	while (at < size && (bytes[at] == 0x66 || bytes[at] == 0x2e || bytes[at] == 0x48))
		at++;
	return at < size &&
	       (bytes[at] == 0x90 || (at + 1 < size && bytes[at] == 0x0f && bytes[at + 1] == 0x1f));
}

unsigned trial_padding(const struct trial *trial, uint32_t at)
{
	const unsigned char *bytes = trial->piece->bytes + at;
	struct instruction it;
	unsigned size;

	if (at >= trial->size)
		return 0;
	if (*bytes == BREAKPOINT)
		return 1;
	if (at + 1 < trial->size && !bytes[0] && !bytes[1])
		return 1;
	size = trial_read(trial, at, &it);
	return size && is_nop(bytes, size) ? size : 0;
}

bool trial_is_over(const struct trial *trial, uint32_t at, const struct instruction *it)
{
	return it->kind == INSTRUCTION_JUMP || it->kind == INSTRUCTION_RETURN ||
	       it->kind == INSTRUCTION_TRAP || trial->piece->bytes[at] == BREAKPOINT;
}

static uint32_t state_add(struct trial *trial, const struct code_state *state)
{
	if (append_item(&trial->states, &trial->state_count, &trial->state_room, state,
			sizeof(*state))) {
		trial->error = -ENOMEM;
		trial->is_failed = true;
		return 0;
	}
	return (uint32_t)trial->state_count;
}

static bool has_name(const struct trial *trial, uint64_t at)
{
	return begins_have(trial->begins, trial->begins->named, 1, trial->piece->address + at);
}

static const struct code_state *state_at(const struct trial *trial, uint32_t at)
{
	return &trial->states[trial->numbers[at] - 1];
}

static bool has_rules(const struct code_state *state)
{
	return code_state_rules(state).kind != RULES_NONE;
}

static void wait_at(struct trial *trial, uint32_t at, uint32_t number)
{
	if (!number)
		return;
	trial->numbers[at] = number;
	if (!(trial->marks[at] & MARK_SEEN))
		trial->seen[trial->seen_count++] = at;
	if (!(trial->marks[at] & MARK_WAITING))
		trial->waiting[trial->waiting_count++] = at;
	trial->marks[at] |= MARK_SEEN | MARK_WAITING;
}

static void change_remember(struct trial *trial, uint32_t at)
{
	if (make_room(&trial->changes, trial->change_count, &trial->change_room,
		      sizeof(*trial->changes)) < 0) {
		trial->error = -ENOMEM;
		trial->is_failed = true;
		return;
	}
	trial->changes[trial->change_count++] =
		(struct trial_change){ at, trial->numbers[at], trial->marks[at] };
}

/* A way leads there with the state `number`. */
static void state_arrive(struct trial *trial, uint32_t at, uint32_t number)
{
	struct code_state both;

	if (!number || !trial->numbers[at]) {
		wait_at(trial, at, number);
		return;
	}
	both = code_state_meet(state_at(trial, at), &trial->states[number - 1]);
	if (code_state_equals(&both, state_at(trial, at))) {
		/* A function may continue in another believed one at its beginning; in its middle
		 * only where no compiler has split functions. */
		trial->has_returned |=
			trial->marks[at] & MARK_BELIEVED &&
			(trial->begins->is_assembly || trial->marks[at] & MARK_TRIED);
		return;
	}
	/* Two functions may share code, as GMP's mpn_divrem_1 and mpn_preinv_divrem_1 do, and one
	 * of them may have used rbp for something else by then: what both know holds for both.
	 * The return address must be in it. */
	if (!has_rules(&both) || (trial->marks[at] & MARK_BELIEVED &&
				  (!trial->is_named || code_state_lacks_fp(&both)))) {
		trial->is_failed = true;
		return;
	}
	if (trial->marks[at] & MARK_BELIEVED && !(trial->marks[at] & MARK_SEEN))
		change_remember(trial, at);
	wait_at(trial, at, state_add(trial, &both));
}

static bool is_begin(const struct trial *trial, uint64_t at)
{
	return has_name(trial, at) || (at < trial->size && trial->marks[at] & MARK_CALLED);
}

/* The place in the piece where a jump leads; the piece's size: elsewhere. */
static uint32_t target_of(const struct trial *trial, uint32_t at, const struct instruction *it)
{
	int64_t target = it->target == TARGET_UNKNOWN ? -1 : (int64_t)at + it->target;

	return target < 0 || target >= (int64_t)trial->size ? trial->size : (uint32_t)target;
}

/* Assembly may jump within a function by a register, with its frame made: to a label whose address
 * it has taken into that register, or to an endbr64, by a table.  The next such place from `*from`
 * on; the piece's size: no more. */
static uint32_t computed_target(const struct trial *trial, const struct instruction *jump,
				uint32_t *from)
{
	static const unsigned char landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	/* Without the prefixes of compilers' tables. */
	bool is_plain = jump->from < REGISTERS && jump->size == 2u + (jump->from >= 8);
	struct instruction it;

	while (is_plain && *from < trial->size && !is_begin(trial, *from) &&
	       trial_read(trial, *from, &it)) {
		bool is_landing = it.size == sizeof(landing) &&
				  !memcmp(trial->piece->bytes + *from, landing, it.size);
		bool is_taken = it.kind == INSTRUCTION_SET && it.target != TARGET_UNKNOWN &&
				it.to == jump->from && it.size == LEA_SIZE;
		int64_t target = is_landing ? *from : is_taken ? *from + it.target : 0;

		*from += it.size;
		if (target > trial->begin && target < trial->size &&
		    !is_begin(trial, (uint64_t)target))
			return (uint32_t)target;
	}
	return trial->size;
}

static uint32_t behind_begin(const struct trial *trial)
{
	struct instruction it;

	return trial->begin + trial_read(trial, trial->begin, &it);
}

/* A jump to another function needs the frame of the caller: this one stays in its own. */
static bool is_computed(const struct trial *trial, const struct instruction *it,
			const struct code_state *state)
{
	return it->kind == INSTRUCTION_JUMP && it->target == TARGET_UNKNOWN && !it->is_by_slot &&
	       trial->is_named && !code_state_is_balanced(state);
}

/* A function that goes to another one instead of returning. */
static bool is_tail_call(const struct trial *trial, uint32_t at, const struct instruction *it)
{
	uint32_t target = target_of(trial, at, it);

	if (it->target == TARGET_UNKNOWN)
		return it->is_by_slot || trial->is_named;
	return target == trial->size || is_begin(trial, target);
}

static void mark_exit(struct trial *trial, uint32_t at, const struct code_state *state)
{
	if (code_state_is_balanced(state))
		trial->marks[at] |= MARK_LEAVES;
}

static void follow_target(struct trial *trial, uint32_t at, const struct instruction *it,
			  uint32_t number)
{
	uint32_t target = target_of(trial, at, it), from = behind_begin(trial);

	if (is_computed(trial, it, &trial->states[number - 1])) {
		while (!trial->is_failed &&
		       (target = computed_target(trial, it, &from)) < trial->size)
			state_arrive(trial, target, number);
		return;
	}
	if (is_tail_call(trial, at, it))
		mark_exit(trial, at, &trial->states[number - 1]);
	else if (target < trial->size)
		state_arrive(trial, target, number);
}

/* Behind a call that does not return comes what fills the space before the next function. */
static bool is_end_of_function(const struct trial *trial, uint32_t next)
{
	unsigned size = trial_padding(trial, next);

	if (!size)
		return false;
	for (; size; size = trial_padding(trial, next))
		next += size;
	return (trial->piece->address + next) % FUNCTION_ALIGN == 0;
}

static void follow_next(struct trial *trial, uint32_t at, const struct instruction *it,
			uint32_t number)
{
	uint32_t next = at + it->size;

	if (next >= trial->size ||
	    (it->kind == INSTRUCTION_CALL && is_end_of_function(trial, next)))
		return;
	if (has_name(trial, next))
		mark_exit(trial, at, &trial->states[number - 1]);
	else
		state_arrive(trial, next, number);
}

/* The state behind the instruction; 0: nothing is known there. */
static uint32_t step_over(struct trial *trial, uint32_t at, const struct instruction *it)
{
	struct code_state state = *state_at(trial, at);

	code_state_step(&state, it);
	if (it->kind == INSTRUCTION_CALL && code_state_needs_scratch(state_at(trial, at)))
		code_state_keep(&state, state_at(trial, at),
				kept_by_call(trial, at, it, &trial->steps_left));
	if (code_state_equals(&state, state_at(trial, at)))
		return trial->numbers[at];
	if (has_rules(&state) && (trial->is_named || !code_state_lacks_fp(&state)))
		return state_add(trial, &state);
	trial->is_failed |= !trial->is_named || trial->is_behind_table;
	return 0;
}

/* Compilers call with rsp aligned, so never from a frame in which nothing was pushed: with what may
 * be a function behind it this is the middle of another, and the call does not return. */
static bool may_call(const struct trial *trial, uint32_t at, const struct instruction *it)
{
	const struct location sp = state_at(trial, at)->registers[REGISTER_RSP];
	uint64_t next = trial->piece->address + at + it->size;

	return trial->is_named || trial->begins->is_assembly || sp.base != BASE_CFA ||
	       sp.offset != NOTHING_PUSHED ||
	       (next % FUNCTION_ALIGN && !is_end_of_function(trial, at + it->size));
}

static void follow_instruction(struct trial *trial, uint32_t at)
{
	struct instruction it;
	uint32_t number;

	trial->marks[at] &= (unsigned char)~MARK_WAITING;
	if (!trial->steps_left || !trial_read(trial, at, &it)) {
		trial->is_failed = true;
		return;
	}
	trial->steps_left--;
	trial->is_failed |= it.kind == INSTRUCTION_CALL && !may_call(trial, at, &it);
	if (it.kind == INSTRUCTION_RETURN) {
		mark_exit(trial, at, state_at(trial, at));
		trial->is_failed |= !(trial->marks[at] & MARK_LEAVES);
		trial->has_returned = true;
		return;
	}
	number = step_over(trial, at, &it);
	/* `switch` jumps by a table.  Of several jumps one with a frame is believed: one without
	 * may leave the function. */
	if (number && it.kind == INSTRUCTION_JUMP && trial->follows_tables &&
	    it.target == TARGET_UNKNOWN && !it.is_by_slot &&
	    (!trial->by_table || code_state_is_balanced(&trial->states[trial->by_table - 1])))
		trial->by_table = number;
	if (number && (it.kind == INSTRUCTION_JUMP || it.kind == INSTRUCTION_BRANCH))
		follow_target(trial, at, &it, number);
	if (number && !trial_is_over(trial, at, &it))
		follow_next(trial, at, &it, number);
}

/* Whether a way that goes on there leaves; who goes to another function has left, or not. */
static bool leaves_at(const struct trial *trial, uint32_t at)
{
	return at < trial->size && trial->numbers[at] && trial->marks[at] & MARK_LEAVES &&
	       !is_begin(trial, at);
}

static bool computed_leads_out(const struct trial *trial, const struct instruction *it)
{
	uint32_t from = behind_begin(trial), target;

	while ((target = computed_target(trial, it, &from)) < trial->size)
		if (leaves_at(trial, target))
			return true;
	return false;
}

static bool leads_out(const struct trial *trial, uint32_t at)
{
	struct instruction it;

	if (trial->marks[at] & MARK_LEAVES)
		return true;
	if (!trial_read(trial, at, &it))
		return false;
	if (is_computed(trial, &it, state_at(trial, at)))
		return computed_leads_out(trial, &it);
	if ((it.kind == INSTRUCTION_JUMP || it.kind == INSTRUCTION_BRANCH) &&
	    leaves_at(trial, target_of(trial, at, &it)))
		return true;
	return !trial_is_over(trial, at, &it) && leaves_at(trial, at + it.size);
}

static void find_ways_out(struct trial *trial)
{
	bool is_changed = true;

	for (unsigned round = 0; is_changed && round < ROUNDS_MAX; round++) {
		is_changed = false;
		for (uint32_t i = trial->seen_count; i-- > 0;) {
			uint32_t at = trial->seen[i];

			if (trial->marks[at] & MARK_LEAVES || !leads_out(trial, at))
				continue;
			trial->marks[at] |= MARK_LEAVES;
			is_changed = true;
		}
	}
}

/* What leads to no return may be what lies behind a call that does not; unless all that follows a
 * function has a name. */
static bool is_believable(const struct trial *trial, uint32_t at)
{
	return trial->marks[at] & MARK_LEAVES || (trial->is_named && trial->begins->is_whole);
}

static void trial_believe(struct trial *trial)
{
	for (uint32_t i = 0; i < trial->seen_count; i++) {
		uint32_t at = trial->seen[i], target;
		struct instruction it;

		if (!is_believable(trial, at)) {
			trial->marks[at] &= MARK_CALLED | MARK_TRIED;
			trial->numbers[at] = 0;
			continue;
		}
		trial->marks[at] |= MARK_BELIEVED;
		trial->marks[at] &= (unsigned char)~MARK_SEEN;
		target = trial_read(trial, at, &it) && it.kind == INSTRUCTION_CALL
				 ? target_of(trial, at, &it)
				 : trial->size;
		if (target < trial->size && it.target != it.size)
			trial->marks[target] |= MARK_CALLED;
	}
}

static void follow_all(struct trial *trial)
{
	while (trial->waiting_count && !trial->is_failed)
		follow_instruction(trial, trial->waiting[--trial->waiting_count]);
}

/* The next block of the function, from `at` on, to which no way has led; the piece's size: none. */
static uint32_t find_unreached(const struct trial *trial, uint32_t at)
{
	bool is_over = false;

	while (at < trial->size && !(at > trial->begin && is_begin(trial, at))) {
		unsigned padding = is_over ? trial_padding(trial, at) : 0;
		struct instruction it;

		if (is_over && !padding && !trial->numbers[at])
			return at;
		if (!padding && !trial_read(trial, at, &it))
			break;
		is_over = padding || trial_is_over(trial, at, &it);
		at += padding ? padding : it.size;
	}
	return trial->size;
}

/* What a compiler wrote between two names and no other way leads to comes from the table. */
static void follow_tables(struct trial *trial)
{
	uint32_t at = trial->begin;

	trial->is_behind_table = trial->by_table;
	while (!trial->is_failed && trial->by_table &&
	       (at = find_unreached(trial, at)) < trial->size) {
		state_arrive(trial, at, trial->by_table);
		follow_all(trial);
	}
}

static void follow_function(struct trial *trial, uint32_t at, bool follows_tables)
{
	const struct code_state begin = code_state_begin();

	trial->begin = at;
	trial->follows_tables = follows_tables;
	trial->by_table = 0;
	trial->is_behind_table = false;
	trial->is_failed = trial->has_returned = false;
	trial->waiting_count = trial->seen_count = 0;
	trial->change_count = 0;
	state_arrive(trial, at, state_add(trial, &begin));
	follow_all(trial);
	follow_tables(trial);
	if (!trial->is_failed)
		find_ways_out(trial);
	trial->is_failed |= !is_believable(trial, at) || (!trial->is_named && !trial->has_returned);
	if (trial->is_failed) {
		for (uint32_t i = 0; i < trial->seen_count; i++) {
			trial->marks[trial->seen[i]] &= MARK_CALLED | MARK_TRIED;
			trial->numbers[trial->seen[i]] = 0;
		}
		for (size_t i = 0; i < trial->change_count; i++) {
			const struct trial_change *change = &trial->changes[i];

			trial->numbers[change->at] = change->number;
			trial->marks[change->at] |= change->marks;
		}
	}
}

int trial_run(struct trial *trial, uint32_t at, bool is_named)
{
	bool has_names = is_named && trial->begins->is_whole;

	if (trial->numbers[at] || trial->marks[at] & MARK_TRIED)
		return 0;
	trial->marks[at] |= MARK_TRIED;
	trial->is_named = is_named;
	follow_function(trial, at, has_names);
	if (trial->is_failed && trial->by_table)
		follow_function(trial, at, /* follows_tables */ false);
	if (!trial->is_failed)
		trial_believe(trial);
	return trial->error;
}

struct rules trial_rules(const struct trial *trial, uint32_t at)
{
	if (!(trial->marks[at] & MARK_BELIEVED))
		return (struct rules){ .kind = RULES_NONE };
	return code_state_rules(state_at(trial, at));
}
