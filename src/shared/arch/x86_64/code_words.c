/*
 * x86-64's part of shared/arch/code_words.h: movl $1, distance(%rip).
 */
#include "shared/arch/code_words.h"

#include <string.h>

#define INSTRUCTION_BYTES 10

uint64_t arch_word_set(const unsigned char *code, size_t size, uint64_t address)
{
	static const unsigned char opcode[2] = { 0xc7, 0x05 }, one[4] = { 1, 0, 0, 0 };

	for (size_t at = 0; at + INSTRUCTION_BYTES <= size; at++) {
		int32_t distance;

		if (memcmp(code + at, opcode, sizeof(opcode)) ||
		    memcmp(code + at + 6, one, sizeof(one)))
			continue;
		memcpy(&distance, code + at + 2, sizeof(distance));
		return address + at + INSTRUCTION_BYTES + (uint64_t)(int64_t)distance;
	}
	return 0;
}
