/*
 * Corrections at single instructions: calls by which a register is found, numbers that are pushed,
 * the last calls of functions that throw, LuaJIT's assembly, and swapcontext().
 */
#include "host/unwind/mend/mend.h"

#include "host/core/cleanup.h"
#include "shared/unwind/luajit.h"

#include <stdlib.h>
#include <string.h>

#define BETWEEN_MAX  8u /* instructions */
#define WORD         8
#define ASSEMBLY_MIN 8192u /* bytes; Debian's have twice as many */

/* The function that installs the registers, and a hook for debuggers after it. */
#define CALLS 2u

/* The CFA of its callee is the caller's sp, so a register that the callee saves first is below
 * that. Callers are looked up at the last byte of their call, where a thread can only stand during
 * it. */
struct stretch {
	struct rows *rows;
	const struct object *object;
	const struct object_part *code;
	uint32_t pc; /* of the code's beginning */
	struct unwind_row row;
	uint32_t end; /* the next row's pc */
};

static const struct unwind_special *special_of(const struct rows *rows,
					       const struct unwind_row *row)
{
	const struct unwind_special *special;

	if ((row->kind & UNWIND_KIND_MASK) != UNWIND_SPECIAL)
		return NULL;
	special = &rows->specials[row->cfa];
	return special->base >= UNWIND_BASE_REGISTER && !special->is_dereferenced &&
			       !special->addition
		       ? special
		       : NULL;
}

static int add_stretch(const struct stretch *self)
{
	const struct unwind_special *found = special_of(self->rows, &self->row);
	const unsigned number = found ? found->base - UNWIND_BASE_REGISTER : 0;
	struct saving_call call = { .end = self->row.pc - self->pc };
	struct unwind_special special = found ? *found : (struct unwind_special){ 0 };
	int r = rows_add(self->rows, self->row.pc, self->row);

	special.base = UNWIND_BASE_SP;
	special.is_dereferenced = 1;
	special.addition = special.offset;
	while (!r && found &&
	       self->rows->machine->code->find_saving_call(self->object, self->code, number,
							   &call) &&
	       call.end <= self->end - self->pc) {
		special.offset = call.saved;
		r = rows_add_special(self->rows, self->pc + call.start + 1, &special);
		if (!r)
			r = rows_add(self->rows, self->pc + call.end, self->row);
	}
	return r;
}

int calls_add_rows(struct rows *rows, size_t first, const struct object *object,
		   const struct object_part *code, uint32_t pc)
{
	CLEANUP(free) struct unwind_row *old = NULL;
	struct stretch stretch = { .rows = rows, .object = object, .code = code, .pc = pc };
	bool has_any = false;
	size_t count;
	int r;

	for (size_t i = first; i < rows->count; i++)
		has_any |= special_of(rows, &rows->items[i]) != NULL;
	if (!rows->machine->code->find_saving_call || !has_any)
		return 0;
	r = rows_detach(rows, first, &old, &count);
	for (size_t i = 0; !r && i < count; i++) {
		stretch.row = old[i];
		stretch.end = i + 1 < count ? old[i + 1].pc : pc + (uint32_t)code->size;
		r = add_stretch(&stretch);
	}
	return r;
}

/* A pair that pushes a number and pops it, within one row: what that says of sp is true before and
 * behind them.  The pushing instruction begins at `at`; from `behind` to `end` the number lies on
 * the stack. */
struct pair {
	uint32_t at, behind, end;
};

struct search {
	const struct code_reader *reader;
	const struct object_part *code;
	uint32_t from; /* an instruction begins there */
};

static bool read_step(const struct search *self, uint32_t at, struct frame_step *ret)
{
	return at < self->code->size &&
	       !self->reader->read_step(ret, self->code->bytes + at, self->code->size - at);
}

/* It goes on, and changes sp by that only. */
static bool moves_sp(const struct frame_step *step, int32_t by)
{
	return step->flow == STEP_ON && step->sp_change == by && !step->is_sp_lost &&
	       step->move != MOVE_SP_FROM_FP;
}

static bool read_pair(const struct search *self, uint32_t at, struct pair *ret)
{
	struct frame_step step;

	if (!read_step(self, at, &step) || !moves_sp(&step, -WORD))
		return false;
	*ret = (struct pair){ .at = at, .behind = at + step.size, .end = at + step.size };
	for (unsigned i = 0; i <= BETWEEN_MAX && read_step(self, ret->end, &step); i++) {
		ret->end += step.size;
		if (!moves_sp(&step, 0))
			return moves_sp(&step, WORD);
	}
	return false;
}

/* Whether an instruction begins there; goes on to the first one that does not begin before it. */
static bool is_instruction(struct search *self, uint32_t at)
{
	struct frame_step step;

	while (self->from < at && read_step(self, self->from, &step))
		self->from += step.size;
	return self->from == at;
}

static bool find_pair(struct search *self, uint32_t from, struct pair *ret)
{
	uint32_t at = from;

	for (; (at = self->reader->find_number_push(self->code, at)) < self->code->size; at++)
		if (read_pair(self, at, ret) && is_instruction(self, at))
			return true;
	return false;
}

/* The row that was added last holds where the number is pushed, and, where no row begins before,
 * behind the pair. */
static int add_pair(struct rows *rows, uint32_t pc, const struct pair *pair)
{
	struct unwind_row row, other;
	int r;

	if (!rows->count)
		return 0;
	row = other = rows->items[rows->count - 1];
	if ((row.kind & UNWIND_KIND_MASK) != UNWIND_SP || row.cfa == UINT16_MAX)
		return 0;
	other.cfa++;
	r = rows_add(rows, pc + pair->behind, other);
	return r ? r : rows_add(rows, pc + pair->end, row);
}

int pushed_numbers_mend(struct rows *rows, size_t first, const struct object_part *code,
			uint32_t pc)
{
	struct search search = { .reader = rows->machine->code, .code = code };
	size_t count, next = 0;
	CLEANUP(free) struct unwind_row *old = NULL;
	struct pair pair = { 0 };
	int r;

	if (!search.reader->find_number_push || code->size > CODE_PIECE_MAX ||
	    !find_pair(&search, 0, &pair))
		return 0;
	r = rows_detach(rows, first, &old, &count);
	if (r)
		return r;
	do {
		for (; !r && next < count && old[next].pc <= pc + pair.at; next++)
			r = rows_add(rows, old[next].pc, old[next]);
		if (!r && (next == count || old[next].pc > pc + pair.end))
			r = add_pair(rows, pc, &pair);
	} while (!r && find_pair(&search, pair.end, &pair));
	for (; !r && next < count; next++)
		r = rows_add(rows, old[next].pc, old[next]);
	return r;
}

/* Offsets in the code. */
struct installing {
	uint32_t at, end;
};

/* A function that throws jumps away with a computed stack pointer, after its last calls. */
static bool is_exit(const struct frame_step *step)
{
	return step->flow == STEP_RETURN ||
	       (step->flow == STEP_JUMP && step->target == STEP_TARGET_UNKNOWN);
}

static bool find_installing(const struct code_reader *reader, const struct object_part *code,
			    struct installing *ret)
{
	uint32_t calls[CALLS] = { 0 };
	bool is_computed = false;
	struct frame_step step;

	for (uint32_t at = 0; at < code->size; at += step.size) {
		if (reader->read_step(&step, code->bytes + at, code->size - at) < 0)
			return false;
		if (step.flow == STEP_CALL) {
			memmove(calls, calls + 1, sizeof(calls) - sizeof(calls[0]));
			calls[CALLS - 1] = at;
			is_computed = false;
		}
		is_computed |= step.is_sp_lost;
		if (is_exit(&step) && is_computed && calls[0]) {
			*ret = (struct installing){ calls[0], at + step.size };
			return true;
		}
	}
	return false;
}

static int add_piece(struct rows *rows, uint32_t pc, struct unwind_row row, bool is_installing)
{
	if (!is_installing)
		row.kind &= (uint8_t)~UNWIND_THROWS;
	return rows_add(rows, pc, row);
}

/* Splits an old row, up to the beginning of the next one, into up to three pieces. */
static int add_pieces(struct rows *rows, const struct unwind_row *row, uint32_t end,
		      struct installing installing)
{
	uint32_t at = MAX(row->pc, installing.at), behind = MAX(row->pc, installing.end);
	int r = 0;

	if (row->pc < installing.at)
		r = add_piece(rows, row->pc, *row, false);
	if (!r && at < MIN(end, installing.end))
		r = add_piece(rows, at, *row, true);
	return r || behind >= end ? r : add_piece(rows, behind, *row, false);
}

int throwers_narrow(struct rows *rows, size_t first, const struct object_part *code, uint32_t pc)
{
	CLEANUP(free) struct unwind_row *old = NULL;
	struct installing installing;
	bool has_mark = false;
	size_t count;
	int r;

	for (size_t i = first; i < rows->count; i++)
		has_mark |= rows->items[i].kind & UNWIND_THROWS;
	if (!has_mark || code->size > CODE_PIECE_MAX ||
	    !find_installing(rows->machine->code, code, &installing))
		return 0;
	r = rows_detach(rows, first, &old, &count);
	installing.at += pc;
	installing.end += pc;
	for (size_t i = 0; !r && i < count; i++)
		r = add_pieces(rows, &old[i],
			       i + 1 < count ? old[i + 1].pc : pc + (uint32_t)code->size,
			       installing);
	return r;
}

const struct unwind_row luajit_compiled = { .kind = UNWIND_LUAJIT,
					    .cfa = LUAJIT_WORDS,
					    .fp = LUAJIT_FP };

/* 0: unsupported machine, or no LuaJIT in the file. */
static unsigned find_words(const struct object *object)
{
	static const char exported[] = "luaJIT_setmode"; /* with its zero */
	struct object_part names;

	if (object_section(object, ".dynstr", &names) ||
	    !memmem(names.bytes, names.size, exported, sizeof(exported)))
		return 0;
	if (object->header.e_machine == EM_X86_64)
		return LUAJIT_WORDS_X86_64;
	return object->header.e_machine == EM_AARCH64 ? LUAJIT_WORDS_AARCH64 : 0;
}

/* LuaJIT's assembly: one entry of .eh_frame gives all of it the same frame, which no compiled
 * function has from its first byte on.  Its own subroutines push a return address below that frame,
 * which the entry does not cover.  The file is foreign bytes. */
void luajit_rules_mark(const struct object *object, struct rows *rows)
{
	unsigned words = find_words(object);

	for (size_t i = 0; words && i + 1 < rows->count; i++) {
		struct unwind_row *row = &rows->items[i];

		if ((row->kind & UNWIND_KIND_MASK) == UNWIND_SP && row->cfa == words &&
		    row->fp == LUAJIT_FP && row[1].pc - row->pc >= ASSEMBLY_MIN) {
			row->kind = UNWIND_LUAJIT;
			row->cfa = (__u16)(words | LUAJIT_ASSEMBLY);
		}
	}
}

static bool is_among(const struct object *object, const char *section)
{
	static const char name[] = "swapcontext"; /* with its zero */
	struct object_part names;

	return !object_section(object, section, &names) &&
	       memmem(names.bytes, names.size, name, sizeof(name));
}

bool swap_is_named(const struct object *object)
{
	return is_among(object, ".dynstr") || is_among(object, ".strtab");
}

static int add_saved(struct rows *rows, const struct swap_code *swap, uint32_t pc)
{
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(swap->saved); i++) {
		const struct unwind_special special = {
			.base = UNWIND_BASE_SP,
			.ra_saved = UNWIND_SAVED_BEHIND,
			.ra_register = (__u8)swap->saved[i].in,
			.ra_offset = swap->saved[i].offset,
		};

		r = rows_add_special(rows, pc + swap->saved[i].start, &special);
	}
	return r;
}

static int add_back(struct rows *rows, const struct swap_code *swap, uint32_t pc)
{
	const struct unwind_special special = {
		.base = UNWIND_BASE_SP,
		.ra_saved = UNWIND_SAVED_IN,
		.ra_offset = (int32_t)swap->back_in,
	};
	const struct unwind_row bare = { .kind = UNWIND_SP | UNWIND_RA_IN_REGISTER,
					 .fp = UNWIND_FP_SAME };
	int r = rows_add_special(rows, pc + swap->back, &special);

	return r ? r : rows_add(rows, pc + swap->back_end, bare);
}

int swap_rules_add(struct rows *rows, const struct object_part *code, uint32_t pc)
{
	struct swap_code swap;
	struct unwind_row left = { .kind = UNWIND_CONTEXT, .fp = UNWIND_FP_SAME };
	int r;

	if (!rows->machine->code->read_swap || !rows->machine->code->read_swap(code, &swap))
		return 0;
	r = add_saved(rows, &swap, pc);
	left.cfa = (__u16)swap.call;
	if (!r)
		r = rows_add(rows, pc + swap.call, left);
	return r ? r : add_back(rows, &swap, pc);
}
