/*
 * The frame of an interpreted method is found by x29, and the caller's stack pointer is in the word
 * below.  Only code that makes or removes that frame differs; it has the same form everywhere.
 */
#include "host/java/arch/aarch64/rules.h"

#define WORD        8
#define MOVE_SP_FP  0x910003bfu /* mov sp, x29 */
#define POP_FP_LR   0xa8c17bfdu /* ldp x29, x30, [sp], #16 */
#define ALIGN_SP    0x927cec1fu /* and sp, xN, #-16 */
#define REGISTER_AT 5           /* where xN is in it */
#define NO_REGISTER 31u

static const struct unwind_special usual = {
	.base = UNWIND_BASE_FP,
	.is_dereferenced = 1,
	.offset = -WORD,
	.fp_saved = UNWIND_SAVED_AT_BASE,
	.ra_saved = UNWIND_SAVED_AT_BASE,
	.ra_offset = WORD,
	.is_floored = 1,
};

/* The caller's sp is in this register, and its x29 and the return address are in theirs. */
static struct unwind_special rule_by_register(unsigned number)
{
	return (struct unwind_special){ .base = (__u8)(UNWIND_BASE_REGISTER + number),
					.is_floored = 1 };
}

/* The same when x29 points to the frame. */
static struct unwind_special rule_of_half_frame(unsigned number)
{
	struct unwind_special rule = usual;

	rule.base = (__u8)(UNWIND_BASE_REGISTER + number);
	rule.is_dereferenced = 0;
	rule.offset = 0;
	return rule;
}

/* stp xzr, xN, [sp, #(offset - 16)]: N.  NO_REGISTER for anything else. */
static unsigned register_stored_below(uint32_t word, int32_t offset)
{
	uint32_t wanted = 0xa90003ffu | ((uint32_t)(offset / WORD - 2) & 0x7f) << 15;

	return (word & ~(31u << 10)) == wanted ? word >> 10 & 31 : NO_REGISTER;
}

/* Where x29 is set to the new frame, with the caller's sp laid down next; *ret: its register. */
static uint32_t find_making(const struct follow *follow, unsigned *ret)
{
	int32_t offset;

	for (uint32_t i = 0; i + 1 < follow->count; i++) {
		if (!instruction_sets_fp(follow_word(follow, i), &offset))
			continue;
		*ret = register_stored_below(follow_word(follow, i + 1u), offset);
		if (*ret != NO_REGISTER)
			return i;
	}
	return follow->count;
}

/* The begin of a method, as far as its frame is not whole.  *ret: where that is. */
static int add_making(struct rows *rows, uint32_t pc, const struct follow *follow, uint32_t *ret)
{
	unsigned number = NO_REGISTER;
	uint32_t at = find_making(follow, &number);
	struct unwind_special rule = rule_by_register(number), half = rule_of_half_frame(number);
	int64_t offset;
	int r;

	*ret = at < follow->count ? at + 2 : at;
	if (at == follow->count)
		return rows_add_kind(rows, pc, UNWIND_BAD);
	r = rows_add_special(rows, pc, &rule);
	for (uint32_t i = 0; !r && i < at; i++) /* a call overwrites the return address */
		if (instruction_flow(follow_word(follow, i), &offset) == FLOW_CALL)
			r = rows_add_kind(rows, pc + i * INSTRUCTION_BYTES, UNWIND_BAD);
	return r ? r : rows_add_special(rows, pc + (at + 1) * INSTRUCTION_BYTES, &half);
}

/* After a removed frame, until the code branches away.  *ret: where that is. */
static int add_rest(struct rows *rows, uint32_t pc, struct follow *follow, uint32_t number,
		    uint32_t *ret)
{
	int64_t offset;
	enum flow flow = FLOW_ON;
	int r = 0;

	follow_begin(follow, number);
	follow_run(follow);
	for (; !r && number < follow->count && flow != FLOW_END && flow != FLOW_JUMP; number++) {
		r = java_add_rules(rows, pc + number * INSTRUCTION_BYTES, follow, number);
		flow = instruction_flow(follow_word(follow, number), &offset);
	}
	*ret = number;
	return r;
}

/* `number`: where the frame is popped. */
static int add_leaving(struct rows *rows, uint32_t pc, struct follow *follow, uint32_t number,
		       uint32_t *ret)
{
	uint32_t at = number + 2u;
	struct unwind_special rule = rule_by_register(follow_word(follow, at) >> REGISTER_AT & 31);
	int r = rows_add_special(rows, pc + at * INSTRUCTION_BYTES, &rule);

	return r ? r : add_rest(rows, pc, follow, at + 1, ret);
}

int interpreter_add_rows(struct rows *rows, uint32_t pc, struct follow *follow, bool is_entry)
{
	uint32_t at = 0;
	int r = is_entry ? add_making(rows, pc, follow, &at) : 0;

	follow->is_one_frame = true;
	while (!r && at < follow->count) {
		r = rows_add_special(rows, pc + at * INSTRUCTION_BYTES, &usual);
		if (!r && follow_word(follow, at) == MOVE_SP_FP &&
		    follow_word(follow, at + 1u) == POP_FP_LR &&
		    (follow_word(follow, at + 2u) & ~(31u << REGISTER_AT)) == ALIGN_SP)
			r = add_leaving(rows, pc, follow, at, &at);
		else
			at++;
	}
	return r;
}
