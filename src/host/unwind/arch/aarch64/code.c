/*
 * Rules of code without an entry: functions begin at symbols, at the beginning of sections, at the
 * targets of calls, or where their first instruction shows it.  A word of data that resembles a
 * call yields a wrong beginning: follow.c then finds two frames that do not agree, and makes no
 * rule.
 */
#include "host/unwind/arch/aarch64/follow.h"
#include "host/unwind/arch/begins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"

#define TRAMPOLINE 2 /* instructions */

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

const struct code_reader code_of_aarch64 = {
	.step = INSTRUCTION_BYTES,
	.read_step = frame_step_aarch64,
	.find_begins = begins_find,
	.read = read_code,
	.mark = held_mark,
	.add_entered = entered_add_rows,
	.read_swap = swap_read,
	.each_call = calls_each,
	.plt_word = plt_word,
	.plt_relocations = { R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT },
};
