/*
 * Rules of code without an entry: functions begin at symbols, at the beginning of sections, at the
 * targets of calls, or where their first instruction shows it.  A word of data that resembles a
 * call yields a wrong beginning: follow.c then finds two frames that do not agree, and makes no
 * rule.
 */
#include "host/unwind/arch/aarch64/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/unwind/arch/code.h"

#define TRAMPOLINE     2   /* instructions */
#define TRAMPOLINE_MAX 32u /* instructions of generated code to its jump */
#define FP             29u
#define SLOT_SIZE      8

bool begins_has_name(const struct code_begins *begins, uint64_t address)
{
	return begins_have(begins, begins->named, INSTRUCTION_BYTES, address);
}

bool begins_has(const struct code_begins *begins, uint64_t address)
{
	return begins_has_name(begins, address) ||
	       begins_have(begins, begins->called, INSTRUCTION_BYTES, address);
}

static bool is_function(const Elf64_Sym *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
}

static size_t calls_each(const struct object_part *piece, size_t margin, call_visitor *visit,
			 void *context)
{
	uint64_t at = 0;

	for (; at + INSTRUCTION_BYTES <= piece->size && at + margin < piece->size;
	     at += INSTRUCTION_BYTES) {
		int64_t offset;
		uint32_t word;

		memcpy(&word, piece->bytes + at, sizeof(word));
		if (instruction_flow(word, &offset) == FLOW_CALL && offset)
			visit(context, piece->address + at + (uint64_t)offset);
	}
	return at;
}

static void add_called(void *context, uint64_t target)
{
	struct code_begins *begins = context;

	begins_add(begins, begins->called, INSTRUCTION_BYTES, target);
}

/* Sections with code that no compiler made. */
static const char *const sections[] = { ".init", ".plt", ".plt.got", ".iplt", ".text", ".fini" };

static int begins_find(const struct object *object, struct code_begins *ret)
{
	int r = begins_find_names(object, INSTRUCTION_BYTES, is_function, ret);
	struct object_part part;

	if (r || !ret->named)
		return r;
	ret->called = calloc(1, ret->count / 8 + 1);
	if (!ret->called)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (!object_section(object, sections[i], &part))
			begins_add(ret, ret->named, INSTRUCTION_BYTES, part.address);
	for (unsigned i = 0; i < object->segment_count; i++) {
		uint64_t first, end;

		if (!object_code_of(object, &object->segments[i], &first, &end) ||
		    object_at(object, first, &part))
			continue;
		part.size = MIN(part.size, end - first);
		calls_each(&part, /* margin */ 0, add_called, ret);
	}
	return 0;
}

static void find_ways(struct follow *follow)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < follow->count; i++)
		if (begins_has(follow->begins,
			       follow->piece->address + (uint64_t)i * INSTRUCTION_BYTES))
			follow_begin(follow, i);
	follow_run(follow);
	while (first < follow->count && code_is_padding(follow_word(follow, first)))
		first++;
	if (first < follow->count && follow->visits[first] == VISIT_NEVER)
		follow_guess(follow, first);
	for (uint32_t i = 0; i < follow->count; i++) {
		if (follow->visits[i] != VISIT_NEVER ||
		    (!instruction_begins_stub(follow_word(follow, i), follow_word(follow, i + 1)) &&
		     !instruction_begins_function(follow_word(follow, i))))
			continue;
		follow_guess(follow, i);
	}
}

/* A handler returns to the first instruction of a trampoline, and callers are looked up one byte
 * before.  In the call that the trampoline makes the pc stands behind its last byte. */
static int report_rules(const struct follow *follow, const struct rules_listener *listener)
{
	static const struct rules signal = { .kind = RULES_SIGNAL };
	uint32_t behind = 0; /* the last trampoline */
	int r = 0;

	for (uint32_t i = 0; !r && i < follow->count; i++) {
		uint64_t address = follow->piece->address + (uint64_t)i * INSTRUCTION_BYTES;
		struct rules rules = follow_rules(follow, i);

		if (follow_word(follow, i) == RT_SIGRETURN &&
		    follow_word(follow, i + 1) == CALL_KERNEL) {
			r = listener->rules(listener->context, address - (i > 0), &signal);
			behind = i + TRAMPOLINE;
		} else if (i >= behind) {
			r = listener->rules(listener->context, address + (behind && i == behind),
					    &rules);
		}
	}
	return r;
}

static bool is_all_padding(const struct object_part *piece)
{
	const struct follow all = { .piece = piece,
				    .count = (uint32_t)(piece->size / INSTRUCTION_BYTES) };

	for (uint32_t i = 0; i < all.count; i++)
		if (!code_is_padding(follow_word(&all, i)))
			return false;
	return true;
}

static int read_code(const struct object_part *piece, const struct code_begins *begins,
		     const struct rules_listener *listener)
{
	CLEANUP(follow_close) struct follow follow = { 0 };
	int r;

	if (piece->size > CODE_PIECE_MAX || is_all_padding(piece))
		return 0;
	r = follow_open(&follow, piece, begins);
	if (r < 0)
		return r;
	find_ways(&follow);
	return report_rules(&follow, listener);
}

/* [bti c] adrp x16, page; ldr x17, [x16, offset]. */
static bool plt_word(const unsigned char *entry, uint64_t address, uint64_t *ret)
{
	uint32_t code[PLT_ENTRY_BYTES / INSTRUCTION_BYTES];
	unsigned at;

	memcpy(code, entry, sizeof(code));
	at = code[0] == BTI_C;
	*ret = instruction_stub_slot(code[at], code[at + 1], address + at * INSTRUCTION_BYTES);
	return *ret;
}

/* gcc's rules count from sp although x29 points to the frame's record, and code without rules leads
 * to its caller by that pointer alone.  A function counts as one that keeps x29 when nothing else
 * in it writes there. */
static bool is_of_record(const struct unwind_row *row)
{
	return (row->kind & UNWIND_KIND_MASK) == UNWIND_SP && row->fp < 0 &&
	       row->fp != UNWIND_FP_SAME &&
	       !(row->kind & (UNWIND_RA_IN_REGISTER | UNWIND_RA_ALONE));
}

/* x29 = sp + distance: is the caller's x29 saved there by the row? */
static bool points_to_record(const struct unwind_row *row, int32_t distance)
{
	return is_of_record(row) && (row->cfa + row->fp) * SLOT_SIZE == distance;
}

/* The row's `fp` with which x29 points to the record; 0: it does not, or not always. */
static int find_record(const struct object_part *code, uint32_t pc, const struct unwind_row *rows,
		       size_t count)
{
	size_t row = 0;
	int record = 0;

	for (uint64_t at = 0; code->size - at >= INSTRUCTION_BYTES; at += INSTRUCTION_BYTES) {
		int32_t distance;
		uint32_t word;

		memcpy(&word, code->bytes + at, sizeof(word));
		if (!((word & 31) == FP || (word >> 5 & 31) == FP))
			continue;
		while (row + 1 < count && rows[row + 1].pc <= pc + at)
			row++;
		if (instruction_sets_fp(word, &distance)) {
			if (!points_to_record(&rows[row], distance) ||
			    (record && record != rows[row].fp))
				return 0;
			record = rows[row].fp;
		} else if (instruction_changes_fp(word)) {
			return 0;
		}
	}
	return record;
}

static void mark_held(const struct object_part *code, uint32_t pc, struct unwind_row *rows,
		      size_t count)
{
	int record = count ? find_record(code, pc, rows, count) : 0;

	for (size_t i = 0; record && i < count; i++)
		if (is_of_record(&rows[i]) && rows[i].fp == record)
			rows[i].kind |= UNWIND_FP_HELD;
}

/* The jump, with the frame made; follow->count: not found. */
static uint32_t find_jump(const struct follow *follow)
{
	for (uint32_t i = 0; i < MIN(follow->count, TRAMPOLINE_MAX); i++) {
		const struct frame_state *state = &follow->states[i];

		if (follow->visits[i] == VISIT_NEVER || !state->is_known)
			break;
		if (instruction_jumps_to_register(follow_word(follow, i)))
			return state->lr_saved != NOT_SAVED && !state->is_sp_lost ? i
										  : follow->count;
	}
	return follow->count;
}

/* Adds the trampoline itself, with the code behind its jump; then all code that it enters. */
static int add_rows(struct follow *follow, uint32_t jump, struct rows *rows)
{
	const struct frame_state made = follow->states[jump];
	struct rules rules = follow_rules(follow, jump);
	uint32_t end = jump + 1;
	int r = 0;

	while (end < follow->count && !instruction_returns(follow_word(follow, end)))
		end++;
	follow_arrive(follow, jump + 1, &made);
	follow_run(follow);
	for (uint32_t i = 0; !r && i < MIN(end + 1, follow->count); i++) {
		struct rules own = follow_rules(follow, i);

		r = rows_add_rules(rows, i * INSTRUCTION_BYTES,
				   own.kind == RULES_NONE ? &rules : &own);
	}
	return r ? r : rows_add_rules(rows, (end + 1) * INSTRUCTION_BYTES, &rules);
}

/* The trampoline saves what its caller needs, and jumps to an address in a register; all code that
 * runs there has the frame that it made. */
static int add_entered(const struct object_part *piece, struct rows *rows)
{
	CLEANUP(follow_close) struct follow follow = { 0 };
	uint32_t jump;
	int r = follow_open(&follow, piece, /* begins */ NULL);

	if (r)
		return r;
	if (!instruction_makes_room(follow_word(&follow, 0)))
		return -ENODATA;
	follow.is_one_frame = true;
	follow_begin(&follow, 0);
	follow_run(&follow);
	jump = find_jump(&follow);
	return jump < follow.count ? add_rows(&follow, jump, rows) : -ENODATA;
}

const struct code_reader code_of_aarch64 = {
	.step = INSTRUCTION_BYTES,
	.read_step = frame_step_aarch64,
	.find_begins = begins_find,
	.read = read_code,
	.mark = mark_held,
	.add_entered = add_entered,
	.read_swap = swap_read,
	.each_call = calls_each,
	.plt_word = plt_word,
	.plt_relocations = { R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT },
};
