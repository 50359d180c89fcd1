/*
 * A step of a walk out of swapcontext() where no register leads to its return address any more
 * (UNWIND_CONTEXT, aarch64).
 *
 * sp and fp are still the caller's.  The caller's frame has its own return address: the call before
 * that shows which function the caller is, and that function's code where it calls swapcontext().
 * Only a call counts at which the caller's rule has that address where it was found.
 */
#include "host/process/memory.h"
#include "host/unwind/arch/aarch64/instruction.h"
#include "host/unwind/walk_private.h"
#include "shared/arch/elf.h"

#define FUNCTION_WORDS 1024u /* read at most of a caller's code */
#define STUB_WORDS     3u    /* of a stub of the linker, up to its load */

static unsigned read_words(const struct walk *walk, uint64_t address, uint32_t *into,
			   unsigned count)
{
	ssize_t n = memory_copy_from(walk->space->pid, address, into, count * sizeof(*into));

	return n > 0 ? (unsigned)n / sizeof(*into) : 0;
}

/* bl: its target; 0: another instruction. */
static uint64_t call_target(uint32_t word, uint64_t at)
{
	int64_t words = (int32_t)(word << 6) >> 6;

	return word >> 26 == 0x25 ? at + (uint64_t)(words * INSTRUCTION_BYTES) : 0;
}

/* The target of a call, also through a stub of the linker. */
static uint64_t final_target(const struct walk *walk, uint64_t target)
{
	uint32_t code[STUB_WORDS] = { 0 };
	uint64_t slot = 0, address = 0;

	if (!target || read_words(walk, target, code, STUB_WORDS) < STUB_WORDS)
		return target;
	for (unsigned i = 0; !slot && i + 1 < STUB_WORDS; i++) /* bti c may be first */
		slot = instruction_stub_slot(code[i], code[i + 1], target + i * INSTRUCTION_BYTES);
	if (!slot)
		return target;
	return memory_copy_from(walk->space->pid, slot, &address, sizeof(address)) ==
			       sizeof(address)
		       ? address
		       : target;
}

static const struct unwind_row *row_at(const struct walk *walk, uint64_t address)
{
	const struct space_range *range = space_find(walk->space, address);
	const struct unwind_table *table = range ? range->module->table : NULL;

	return table ? unwind_table_find(table, address - range->bias) : NULL;
}

/* Does the caller's rule at the call have its return address there? */
static bool returns_from(const struct walk *walk, uint64_t call, uint64_t there)
{
	const struct unwind_row *row = row_at(walk, call);
	unsigned kind = row ? row->kind & UNWIND_KIND_MASK : UNWIND_NONE;
	uint64_t cfa;

	if ((kind != UNWIND_SP && (kind != UNWIND_FP || walk->at.is_fp_unknown)) ||
	    row->fp == UNWIND_FP_SAME || row->kind & UNWIND_RA_IN_REGISTER)
		return false;
	cfa = (kind == UNWIND_FP ? walk->at.fp : walk->at.sp) + row->cfa * (uint64_t)WORD;
	return cfa + (uint64_t)(row->fp * WORD) + (row->kind & UNWIND_RA_ALONE ? 0 : WORD) == there;
}

/* Another function begins here. */
static bool is_next_function(const struct walk *walk, uint64_t at, uint32_t before)
{
	const struct unwind_row *row = row_at(walk, at);

	/* ret, b, br: what follows may be another function. */
	return (before >> 26 == 0x05 || (before & 0xfe000000u) == 0xd6000000u) &&
	       (!row || row->kind == UNWIND_NONE || row->kind & UNWIND_RA_IN_REGISTER);
}

/* The return address of a call of `wanted` in the function whose own return address is at `there`;
 * 0: it has none. */
static uint64_t find_return(const struct walk *walk, uint64_t function, uint64_t wanted,
			    uint64_t there)
{
	uint32_t code[FUNCTION_WORDS];
	unsigned count = read_words(walk, function, code, FUNCTION_WORDS);

	for (unsigned i = 0; i < count; i++) {
		uint64_t at = function + i * (uint64_t)INSTRUCTION_BYTES;
		uint64_t target = call_target(code[i], at);

		if (i && is_next_function(walk, at, code[i - 1]))
			return 0;
		if (target && returns_from(walk, at, there) && final_target(walk, target) == wanted)
			return at + INSTRUCTION_BYTES;
	}
	return 0;
}

/* The same for the callee of the call before this address. */
static uint64_t find_return_in_callee(const struct walk *walk, uint64_t address, uint64_t wanted,
				      uint64_t there)
{
	uint32_t call = 0;
	uint64_t function;

	address &= ARCH_ADDRESS_MASK;
	if (!space_find(walk->space, address - 1) ||
	    read_words(walk, address - INSTRUCTION_BYTES, &call, 1) != 1)
		return 0;
	function = final_target(walk, call_target(call, address - INSTRUCTION_BYTES));
	return function ? find_return(walk, function, wanted, there) : 0;
}

int walk_step_context(struct walk *walk, const struct unwind_row *row)
{
	uint64_t begin = walk->at.pc - 1 - row->cfa, sp = walk->at.sp, word, ra = 0;

	if (walk->is_exact)
		return STACK_SWITCHED;
	for (uint64_t at = sp; !ra && at - sp < DOUBT_REACH && walk_read_word(walk, at, &word);
	     at += WORD)
		ra = find_return_in_callee(walk, word, begin, at);
	if (!ra)
		return STACK_SWITCHED;
	walk->is_guessed = true;
	return walk_step_to(walk, sp, ra, walk->at.fp, /* may_stay */ true);
}
