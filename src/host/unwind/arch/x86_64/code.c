/*
 * Rules of a piece of code without an entry: tries functions at symbols, at targets of calls, and
 * behind other functions.
 */
#include "host/unwind/arch/code.h"

#include <errno.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/unwind/arch/x86_64/decoding.h"
#include "host/unwind/arch/x86_64/trial.h"

#define FUNCTION_ALIGN 16u
#define CALL           0xe8u
#define PUSH_NUMBER    0x6a
#define BND            0xf2
#define JUMP_SIZE      6u
#define WORD           8
#define PROLOGUE_MAX   16u /* instructions */
#define RBX            3u
#define R12            12u
#define R15            15u

/* mov $15, %rax; syscall: where a signal handler returns to. */
static const unsigned char trampoline[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };

DEFINE_STRUCT_CLEANUP(trial, trial_close)

/* Each accepted function may call others, before it and behind it. */
static int try_called(struct trial *trial)
{
	bool is_any = true;
	int r = 0;

	while (is_any && !r) {
		is_any = false;
		for (uint32_t at = 0; !r && at < trial->size; at++) {
			if ((trial->marks[at] & (MARK_CALLED | MARK_TRIED)) != MARK_CALLED ||
			    trial->numbers[at])
				continue;
			is_any = true;
			r = trial_run(trial, at, /* is_named */ true);
		}
	}
	return r;
}

/* After an instruction without continuation another function may begin, at an address with the
 * alignment of compilers and assemblers. */
static int try_others(struct trial *trial)
{
	bool may_begin = true;
	int r = 0;

	for (uint32_t at = 0; !r && at < trial->size;) {
		unsigned padding = may_begin ? trial_padding(trial, at) : 0;
		struct instruction it;

		if (padding) {
			at += padding;
			continue;
		}
		if (may_begin && (trial->piece->address + at) % FUNCTION_ALIGN == 0)
			r = trial_run(trial, at, /* is_named */ false);
		if (trial_read(trial, at, &it)) {
			may_begin = trial_is_over(trial, at, &it);
			at += it.size;
		} else {
			may_begin = true;
			at = (uint32_t)ALIGN_UP(at + 1, FUNCTION_ALIGN);
		}
	}
	return r;
}

/* A handler returns to the first instruction of a trampoline, and callers are looked up one byte
 * before.  In the call that the trampoline makes the pc stands behind its last byte. */
static int report_trampoline(const struct trial *trial, uint32_t at,
			     const struct rules_listener *listener)
{
	static const struct rules signal = { .kind = RULES_SIGNAL }, none = { .kind = RULES_NONE };
	uint64_t address = trial->piece->address + at;
	int r = listener->rules(listener->context, address - (at > 0), &signal);

	return r ? r : listener->rules(listener->context, address + sizeof(trampoline) + 1, &none);
}

/* Callers are looked up at the last byte of their call: only there a rule says that the callee kept
 * the CFA's register. */
static int report_kept(const struct trial *trial, uint32_t at, struct rules rules,
		       const struct rules_listener *listener)
{
	unsigned number = code_scratch_register(rules.cfa.base);
	uint64_t steps_left = trial->size; /* as many as sufficed before */
	struct instruction it;

	if (rules.kind != RULES_FRAME || rules.cfa.kind != RULE_AT || number == REGISTER_NONE ||
	    !trial_read(trial, at, &it) || it.kind != INSTRUCTION_CALL ||
	    !(kept_by_call(trial, at, &it, &steps_left) >> number & 1))
		return 0;
	rules.is_kept = true;
	return listener->rules(listener->context, trial->piece->address + at + 1, &rules);
}

static int report_rules(const struct trial *trial, const struct rules_listener *listener)
{
	int r = 0;

	for (uint32_t at = 0; !r && at < trial->size;) {
		struct rules rules = trial_rules(trial, at);
		struct instruction it;

		if (trial->size - at >= sizeof(trampoline) &&
		    !memcmp(trial->piece->bytes + at, trampoline, sizeof(trampoline))) {
			r = report_trampoline(trial, at, listener);
			at += sizeof(trampoline) + 1;
			continue;
		}
		r = listener->rules(listener->context, trial->piece->address + at, &rules);
		if (!r)
			r = report_kept(trial, at, rules, listener);
		at += rules.kind != RULES_NONE ? trial_read(trial, at, &it) : 1;
	}
	return r;
}

static int read_code(const struct object_part *piece, const struct code_begins *begins,
		     const struct rules_listener *listener)
{
	const struct trial bare = { .piece = piece, .size = (uint32_t)piece->size };
	CLEANUP(trial_close) struct trial trial = { 0 };
	uint32_t padding = 0;
	int r;

	if (piece->size > CODE_PIECE_MAX)
		return 0;
	for (unsigned size; (size = trial_padding(&bare, padding));)
		padding += size;
	if (padding >= bare.size)
		return 0;
	r = trial_open(&trial, piece, begins);
	for (uint32_t at = 0; !r && at < trial.size; at++)
		if (begins_have(begins, begins->named, 1, piece->address + at))
			r = trial_run(&trial, at, /* is_named */ true);
	if (!r)
		r = try_called(&trial);
	if (!r)
		r = try_others(&trial);
	if (!r)
		r = try_called(&trial);
	return r ? r : report_rules(&trial, listener);
}

/* jcc with a distance of one byte or of four: as in glibc's __memcpy_chk, which continues through
 * nops in memcpy.  Other bytes may look the same; then nothing continues behind them. */
static bool ends_with_branch(const struct object_part *code)
{
	const unsigned char *end = code->bytes + code->size;

	return (code->size >= 2 && (end[-2] & 0xf0) == 0x70) ||
	       (code->size >= 6 && end[-6] == 0x0f && (end[-5] & 0xf0) == 0x80);
}

static uint32_t find_number_push(const struct object_part *code, uint32_t from)
{
	const unsigned char *found =
		from < code->size ? memchr(code->bytes + from, PUSH_NUMBER, code->size - from)
				  : NULL;

	return (uint32_t)(found ? (size_t)(found - code->bytes) : code->size);
}

/* Assemblers give other files' names no type; local names without one may be those of loops. */
static bool is_function(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC ||
		(type == STT_NOTYPE && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL));
}

/* At symbols only: instructions differ in size, so targets of calls show while code is followed. */
static int find_begins(const struct object *object, struct code_begins *ret)
{
	struct object_part part;
	int r = begins_find_names(object, 1, is_function, ret);

	ret->is_whole = ret->named && !object_section(object, ".symtab", &part);
	return r;
}

/* The offset from the function's CFA at which it saves the register; 0: it does not, or not
 * first. */
static int32_t find_push(const struct object_part *code, unsigned number)
{
	int32_t depth = WORD;
	struct instruction it;
	size_t at = 0;

	for (unsigned i = 0; i < PROLOGUE_MAX; i++, at += it.size) {
		if (at >= code->size || instruction_read(&it, code->bytes + at, code->size - at))
			return 0;
		if (it.kind == INSTRUCTION_PUSH) {
			depth += WORD;
			if (it.from == number)
				return -depth;
			continue;
		}
		if (it.kind > INSTRUCTION_ALIGN && it.kind != INSTRUCTION_SET)
			return 0;
		if (it.kind == INSTRUCTION_POP || it.to == number ||
		    (it.to == REGISTER_RSP && it.kind != INSTRUCTION_STORE))
			return 0;
	}
	return 0;
}

/* Only callee-saved registers, which instructions number as DWARF does. */
static bool find_saving_call(const struct object *object, const struct object_part *piece,
			     unsigned number, struct saving_call *call)
{
	bool is_preserved = number == RBX || (number >= R12 && number <= R15);
	struct instruction it;

	for (uint32_t at = call->end; is_preserved && at < piece->size; at += it.size) {
		struct object_part callee;
		int32_t saved;

		if (instruction_read(&it, piece->bytes + at, piece->size - at))
			return false;
		if (it.kind != INSTRUCTION_CALL || it.target == TARGET_UNKNOWN ||
		    object_at(object, piece->address + at + (uint64_t)it.target, &callee) < 0)
			continue;
		saved = find_push(&callee, number);
		if (!saved)
			continue;
		*call = (struct saving_call){ at, at + it.size, saved };
		return true;
	}
	return false;
}

static size_t each_call(const struct object_part *piece, size_t margin, call_visitor *visit,
			void *context)
{
	size_t at = 0;

	while (at + margin < piece->size) {
		struct decoding it = { .bytes = piece->bytes + at, .room = piece->size - at };

		if (decoding_read(&it) & BAD) {
			at++;
			continue;
		}
		at += it.at;
		if (it.map == MAP_ONE && it.opcode == CALL)
			visit(context, piece->address + at + (uint64_t)it.immediate);
	}
	return at;
}

/* [endbr64] [bnd] jmp *displacement(%rip), in any of the forms that linkers write. */
static bool plt_word(const unsigned char *entry, uint64_t address, uint64_t *ret)
{
	static const unsigned char landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = memcmp(entry, landing, sizeof(landing)) == 0 ? sizeof(landing) : 0;
	int32_t displacement;

	at += entry[at] == BND;
	if (entry[at] != 0xff || entry[at + 1] != 0x25)
		return false;
	memcpy(&displacement, entry + at + 2, sizeof(displacement));
	*ret = address + at + JUMP_SIZE + (uint64_t)(int64_t)displacement;
	return true;
}

const struct code_reader code_of_x86_64 = {
	.step = 1,
	.read_step = frame_step_x86_64,
	.find_begins = find_begins,
	.read = read_code,
	.may_fall_on = ends_with_branch,
	.find_number_push = find_number_push,
	.find_saving_call = find_saving_call,
	.each_call = each_call,
	.plt_word = plt_word,
	.plt_relocations = { R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT },
};
