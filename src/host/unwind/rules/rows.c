/*
 * Turns rules into rows.
 */
#include "host/unwind/rules/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"

#define WORD         8
#define SPECIALS_MAX UINT16_MAX
#define SEARCHED     64 /* of the latest specials, for an equal one */

/* Operations of expressions. */
enum {
	OP_DEREF = 0x06,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_PLUS_CONSTANT = 0x23,
	OP_SHIFT_LEFT = 0x24,
	OP_GREATER_EQUAL = 0x2a,
	OP_LITERAL_0 = 0x30,
	OP_REGISTER_0 = 0x70, /* breg0 */
	OP_REGISTER_31 = 0x8f,
};

int rows_add(struct rows *rows, uint32_t pc, struct unwind_row row)
{
	const struct unwind_row *last;

	row.pc = pc;
	while (rows->count && rows->items[rows->count - 1].pc >= pc)
		rows->count--;
	last = rows->count ? &rows->items[rows->count - 1] : NULL;
	if (last && last->kind == row.kind && last->cfa == row.cfa && last->fp == row.fp)
		return 0;
	if (rows->count >= UNWIND_ROWS_MAX)
		return -EOVERFLOW;
	return append_item(&rows->items, &rows->count, &rows->room, &row, sizeof(row));
}

/* The linker's expression for its table of stubs: two words are pushed there. */
static bool read_plt(struct dwarf_bytes bytes, struct unwind_row *ret)
{
	static const unsigned char begin[] = { 0x77, 8, 0x80, 0, OP_LITERAL_0 + 15, OP_AND };
	static const unsigned char end[] = { OP_GREATER_EQUAL, OP_LITERAL_0 + 3, OP_SHIFT_LEFT,
					     OP_PLUS };
	const unsigned char *at = bytes.at;

	if (bytes.end - at != sizeof(begin) + 1 + sizeof(end) ||
	    memcmp(at, begin, sizeof(begin)) != 0 ||
	    memcmp(at + sizeof(begin) + 1, end, sizeof(end)) != 0)
		return false;
	*ret = (struct unwind_row){ .kind = UNWIND_PLT,
				    .fp = UNWIND_FP_SAME,
				    .cfa = (__u16)(at[sizeof(begin)] - OP_LITERAL_0) };
	return ret->cfa < 16;
}

static bool value_fits(int64_t value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

static bool set_base(const struct rows *rows, uint64_t number, int64_t offset,
		     struct unwind_special *ret)
{
	if (number > 32 || !value_fits(offset))
		return false;
	ret->base = number == rows->machine->sp   ? UNWIND_BASE_SP
		    : number == rows->machine->fp ? UNWIND_BASE_FP
						  : (__u8)(UNWIND_BASE_REGISTER + number);
	ret->offset = (__s32)offset;
	return true;
}

/* base + offset, then optionally: dereference, add. */
static bool read_location(const struct rows *rows, struct dwarf_bytes bytes,
			  struct unwind_special *ret)
{
	unsigned op = (unsigned)dwarf_read_fixed(&bytes, 1);
	int64_t addition = 0;

	if (op < OP_REGISTER_0 || op > OP_REGISTER_31 ||
	    !set_base(rows, op - OP_REGISTER_0, dwarf_read_signed(&bytes), ret))
		return false;
	if (bytes.at < bytes.end && *bytes.at == OP_DEREF) {
		dwarf_read_fixed(&bytes, 1);
		ret->is_dereferenced = 1;
	}
	if (bytes.at < bytes.end && *bytes.at == OP_PLUS_CONSTANT) {
		dwarf_read_fixed(&bytes, 1);
		addition = (int64_t)dwarf_read_unsigned(&bytes);
	}
	ret->addition = (__s32)addition;
	return value_fits(addition) && !bytes.is_broken && bytes.at == bytes.end;
}

/* The address at which a register was saved. */
static bool read_saved(const struct rows *rows, const struct rule *rule, __u8 *ret_saved,
		       __s32 *ret_offset)
{
	struct unwind_special place = { 0 };

	*ret_offset = 0;
	*ret_saved = UNWIND_SAVED_NOT;
	if (rule->kind == RULE_SAME || rule->kind == RULE_UNDEFINED)
		return true;
	if (rule->kind == RULE_IN) {
		*ret_saved = UNWIND_SAVED_IN;
		*ret_offset = (__s32)rule->base;
		return rule->base <= 32;
	}
	if (rule->kind == RULE_AT) {
		*ret_saved = UNWIND_SAVED_AT_CFA;
		*ret_offset = (__s32)rule->offset;
		return value_fits(rule->offset);
	}
	*ret_saved = UNWIND_SAVED_AT_BASE;
	if (rule->kind == RULE_AT_FP) {
		*ret_offset = (__s32)rule->offset;
		return value_fits(rule->offset);
	}
	if (rule->kind != RULE_EXPRESSION || !read_location(rows, rule->expression, &place))
		return false;
	*ret_offset = place.offset;
	return !place.is_dereferenced && !place.addition && place.base == UNWIND_BASE_FP;
}

/* The rules in the form with the most room; false when that is not enough. */
static bool read_rules(const struct rows *rows, const struct rules *rules,
		       struct unwind_special *ret)
{
	const struct rule *cfa = &rules->cfa;

	*ret = (struct unwind_special){ .is_dereferenced = cfa->kind == RULE_BY_WORD,
					.addition = (__s32)cfa->addition };
	if (cfa->kind == RULE_EXPRESSION ? !read_location(rows, cfa->expression, ret)
					 : (cfa->kind != RULE_AT && cfa->kind != RULE_BY_WORD) ||
						   !value_fits(cfa->addition) ||
						   !set_base(rows, cfa->base, cfa->offset, ret))
		return false;
	if (!read_saved(rows, &rules->fp, &ret->fp_saved, &ret->fp_offset) ||
	    !read_saved(rows, &rules->ra, &ret->ra_saved, &ret->ra_offset) ||
	    ret->fp_saved == UNWIND_SAVED_IN)
		return false;
	ret->is_kept = rules->is_kept &&
		       (ret->base >= UNWIND_BASE_REGISTER || ret->ra_saved == UNWIND_SAVED_IN);
	ret->is_low = rules->is_low;
	return !rows->machine->is_ra_pushed || ret->ra_saved == UNWIND_SAVED_IN ||
	       (ret->ra_saved == UNWIND_SAVED_AT_CFA && ret->ra_offset == -WORD);
}

static bool is_word(int64_t offset, int64_t lowest, int64_t highest)
{
	return offset % WORD == 0 && offset / WORD >= lowest && offset / WORD <= highest;
}

/* On machines whose calls do not push: sets the row's flags for ra.  False: no room for it. */
static bool place_ra(const struct unwind_special *from, struct unwind_row *row)
{
	if (from->ra_saved == UNWIND_SAVED_NOT) {
		row->kind |= UNWIND_RA_IN_REGISTER;
		return true;
	}
	if (from->ra_saved != UNWIND_SAVED_AT_CFA)
		return false;
	if (from->fp_saved == UNWIND_SAVED_AT_CFA)
		return from->ra_offset == from->fp_offset + WORD;
	row->kind |= UNWIND_RA_ALONE;
	row->fp = (__s8)(from->ra_offset / WORD);
	return is_word(from->ra_offset, INT8_MIN + 1, INT8_MAX);
}

static bool is_popped(const struct unwind_special *rules, __u8 saved, __s32 offset)
{
	return rules->base == UNWIND_BASE_SP && !rules->is_dereferenced &&
	       saved == UNWIND_SAVED_AT_CFA && (int64_t)rules->offset + offset < 0;
}

static bool make_short(const struct rows *rows, const struct unwind_special *from,
		       struct unwind_row *ret)
{
	if (from->base > UNWIND_BASE_FP || from->ra_saved == UNWIND_SAVED_IN ||
	    from->is_dereferenced || from->is_low || from->addition ||
	    !is_word(from->offset, 0, UINT16_MAX) ||
	    (from->fp_saved && (from->fp_saved != UNWIND_SAVED_AT_CFA ||
				!is_word(from->fp_offset, INT8_MIN + 1, INT8_MAX))))
		return false;
	*ret = (struct unwind_row){
		.kind = from->base == UNWIND_BASE_SP ? UNWIND_SP : UNWIND_FP,
		.cfa = (__u16)(from->offset / WORD),
		.fp = (__s8)(from->fp_saved ? from->fp_offset / WORD : UNWIND_FP_SAME),
	};
	return rows->machine->is_ra_pushed
		       ? from->ra_saved == UNWIND_SAVED_AT_CFA && from->ra_offset == -WORD
		       : place_ra(from, ret);
}

static int add_special(struct rows *rows, const struct unwind_special *special, size_t *ret)
{
	size_t nearest = rows->special_count > SEARCHED ? rows->special_count - SEARCHED : 0;

	for (*ret = nearest; *ret < rows->special_count; ++*ret)
		if (!memcmp(&rows->specials[*ret], special, sizeof(*special)))
			return 0;
	if (rows->special_count == SPECIALS_MAX)
		return -EOVERFLOW;
	return append_item(&rows->specials, &rows->special_count, &rows->special_room, special,
			   sizeof(*special));
}

/* `flags`: of the row's kind. */
static int add_as_special(struct rows *rows, uint32_t pc, const struct unwind_special *special,
			  __u8 flags)
{
	struct unwind_row row = { .kind = UNWIND_SPECIAL | flags, .fp = UNWIND_FP_SAME };
	size_t index;
	int r = add_special(rows, special, &index);

	if (r < 0)
		return r == -ENOMEM ? r : rows_add_kind(rows, pc, UNWIND_BAD);
	row.cfa = (__u16)index;
	return rows_add(rows, pc, row);
}

int rows_add_special(struct rows *rows, uint32_t pc, const struct unwind_special *special)
{
	return add_as_special(rows, pc, special, 0);
}

static int add_exact(struct rows *rows, uint32_t pc, const struct unwind_special *special,
		     __u8 flags)
{
	struct unwind_row row;

	if (!make_short(rows, special, &row))
		return add_as_special(rows, pc, special, flags);
	row.kind |= flags;
	return rows_add(rows, pc, row);
}

int rows_add_exact(struct rows *rows, uint32_t pc, const struct unwind_special *special)
{
	return add_exact(rows, pc, special, 0);
}

bool rows_keep_fp_in_frame(const struct rows *rows, const struct unwind_row *row)
{
	return (row->kind & UNWIND_KIND_MASK) == UNWIND_SPECIAL &&
	       rows->specials[row->cfa].fp_saved == UNWIND_SAVED_AT_BASE;
}

int rows_add_with_fp(struct rows *rows, uint32_t pc, const struct unwind_row *row)
{
	struct unwind_special special = rows->specials[row->cfa];

	special.fp_saved = UNWIND_SAVED_NOT;
	special.fp_offset = 0;
	return rows_add_exact(rows, pc, &special);
}

int rows_add_rules(struct rows *rows, uint32_t pc, const struct rules *rules)
{
	struct unwind_special special;
	struct unwind_row plt;

	if (rules->ra.kind == RULE_UNDEFINED)
		return rows_add_kind(rows, pc, UNWIND_END);
	if (rows->machine->is_ra_pushed && rules->cfa.kind == RULE_EXPRESSION &&
	    read_plt(rules->cfa.expression, &plt))
		return rows_add(rows, pc, plt);
	if (!read_rules(rows, rules, &special))
		return rows_add_kind(rows, pc, UNWIND_BAD);
	/* Below the stack pointer nothing is saved: the epilogue has popped it, and the register
	 * has the value again.  OCaml's rules omit this for x30. */
	if (is_popped(&special, special.fp_saved, special.fp_offset)) {
		special.fp_saved = UNWIND_SAVED_NOT;
		special.fp_offset = 0;
	}
	if (!rows->machine->is_ra_pushed &&
	    is_popped(&special, special.ra_saved, special.ra_offset)) {
		special.ra_saved = UNWIND_SAVED_NOT;
		special.ra_offset = 0;
	}
	return add_exact(rows, pc, &special, rules->thrown.kind == RULE_AT ? UNWIND_THROWS : 0);
}

int rows_detach(struct rows *rows, size_t first, struct unwind_row **ret, size_t *ret_count)
{
	size_t count = rows->count - first;

	*ret = malloc((count + 1) * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, rows->items + first, count * sizeof(**ret));
	*ret_count = count;
	rows->count = first;
	return 0;
}

void rows_done(struct rows *rows)
{
	free(rows->items);
	free(rows->specials);
	*rows = (struct rows){ 0 };
}
