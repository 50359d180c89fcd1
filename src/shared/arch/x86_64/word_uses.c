/*
 * x86-64 code reaches a word of the GOT by a 32-bit distance from the end of the instruction.
 * Instructions have no fixed positions, so every four bytes are tried as such a distance: no use is
 * missed, and an accidental match counts as a use of the value.
 */
#include "shared/arch/word_uses.h"

#include <stdbool.h>

#define IMMEDIATE_MAX 4 /* bytes between the distance and the end of the instruction */

typedef int32_t distance __attribute__((aligned(1), may_alias));

/* ff 15: call *word(%rip); ff 25: jmp *word(%rip). */
static bool is_call(const struct code_bytes *code, size_t at)
{
	return at >= 2 && code->bytes[at - 2] == 0xff &&
	       (code->bytes[at - 1] == 0x15 || code->bytes[at - 1] == 0x25);
}

static void add_use(const struct code_bytes *code, size_t at, uint64_t end, struct word_uses *uses)
{
	static const uint8_t immediates[] = { 1, 2, IMMEDIATE_MAX };

	word_uses_mark(uses, end, is_call(code, at) ? WORD_USE_CALL : WORD_USE_VALUE);
	for (unsigned i = 0; i < ARRAY_SIZE(immediates); i++)
		word_uses_mark(uses, end + immediates[i], WORD_USE_VALUE);
}

void word_uses_add_x86_64(const struct code_bytes *code, struct word_uses *uses)
{
	uint64_t first = uses->first - IMMEDIATE_MAX;
	uint64_t size = uses->count * sizeof(uint64_t) + IMMEDIATE_MAX;

	for (size_t at = 0; at + sizeof(distance) <= code->size; at++) {
		uint64_t end = code->address + at + sizeof(distance) +
			       (uint64_t)(int64_t) * (const distance *)(code->bytes + at);

		if (end - first < size)
			add_use(code, at, end, uses);
	}
}
