/*
 * Decodes swapcontext() of glibc on aarch64:
 *
 *   stp  xzr, x30, [x0, #184]     the context's x0 and x1: a switch back returns to x1
 *   adr  x30, back
 *   ...                           the other registers
 *   add  x2, x0, #40
 *   mov  x0, #0                   rt_sigprocmask
 *   ...
 *   bl   setcontext
 *   ...
 *   back: mov x30, x1; ret
 *
 * The code is foreign bytes.
 */
#include "host/unwind/arch/aarch64/follow.h"

#include <string.h>

#define SIZE_MAX_BYTES 1024u
#define BEGIN_WORDS    4u /* before the address is saved */
#define BACK_WORDS     4u /* until it is in x30 again */
#define CONTEXT        0u /* the register of the first argument */
#define SLOT           8

static uint32_t word_at(const struct object_part *code, uint32_t at)
{
	uint32_t word = 0;

	if (at < code->size && code->size - at >= sizeof(word))
		memcpy(&word, code->bytes + at, sizeof(word));
	return word;
}

/* stp xzr, x30, [x0, #n]: where x30 is stored; 0: another instruction. */
static int32_t saves_return(uint32_t word)
{
	return (word & 0xffe07fffu) == 0xa900781fu ? (int32_t)(word >> 15 & 63) * SLOT + SLOT : 0;
}

/* adr x30, back: the distance from the instruction; 0: another one. */
static int32_t returns_to(uint32_t word)
{
	return (word & 0x9f00001fu) == 0x1000001eu
		       ? (int32_t)(word >> 5 & 0x7ffff) * 4 + (int32_t)(word >> 29 & 3)
		       : 0;
}

/* add xN, x0, #n: N; CONTEXT: another instruction. */
static unsigned copies_context(uint32_t word, int32_t *ret_offset)
{
	if ((word & 0xffc003e0u) != 0x91000000u)
		return CONTEXT;
	*ret_offset = (int32_t)(word >> 10 & 0xfff);
	return word & 31;
}

/* mov xN, xM: N is x30; M, or 31. */
static unsigned restores_return(uint32_t word)
{
	return (word & 0xffe0ffffu) == 0xaa0003feu ? word >> 16 & 31 : 31;
}

static bool find_begin(const struct object_part *code, struct swap_code *ret)
{
	for (uint32_t at = 0; at < BEGIN_WORDS * INSTRUCTION_BYTES; at += INSTRUCTION_BYTES) {
		int32_t saved = saves_return(word_at(code, at));
		int32_t back = returns_to(word_at(code, at + INSTRUCTION_BYTES));

		if (!saved || back <= 0)
			continue;
		ret->saved[0].start = at + 2 * INSTRUCTION_BYTES;
		ret->saved[0].in = CONTEXT;
		ret->saved[0].offset = saved;
		ret->back = at + INSTRUCTION_BYTES + (uint32_t)back;
		return ret->back % INSTRUCTION_BYTES == 0 && ret->back < code->size;
	}
	return false;
}

/* Until the call: while x0 is needed otherwise another register points to the context. */
static bool find_call(const struct object_part *code, struct swap_code *ret)
{
	unsigned copy = CONTEXT;

	for (uint32_t at = ret->saved[0].start; at < ret->back; at += INSTRUCTION_BYTES) {
		uint32_t word = word_at(code, at);
		int32_t offset = 0;
		int64_t target;

		if (instruction_flow(word, &target) == FLOW_CALL) {
			ret->call = at + INSTRUCTION_BYTES - 1;
			return copy != CONTEXT;
		}
		if (copies_context(word, &offset) != CONTEXT) {
			copy = copies_context(word, &offset);
			ret->saved[1].start = at + INSTRUCTION_BYTES;
			ret->saved[1].in = copy;
			ret->saved[1].offset = ret->saved[0].offset - offset;
		} else if (copy != CONTEXT && instruction_may_write(word, copy)) {
			copy = CONTEXT;
		} else if (copy == CONTEXT && instruction_may_write(word, CONTEXT)) {
			return false;
		}
	}
	return false;
}

static bool find_back(const struct object_part *code, struct swap_code *ret)
{
	for (uint32_t i = 0; i < BACK_WORDS; i++) {
		ret->back_in = restores_return(word_at(code, ret->back + i * INSTRUCTION_BYTES));
		ret->back_end = ret->back + (i + 1) * INSTRUCTION_BYTES;
		if (ret->back_in < 31)
			return ret->back_end < code->size;
	}
	return false;
}

bool swap_read(const struct object_part *code, struct swap_code *ret)
{
	*ret = (struct swap_code){ 0 };
	return code->size <= SIZE_MAX_BYTES && find_begin(code, ret) && find_call(code, ret) &&
	       find_back(code, ret);
}
