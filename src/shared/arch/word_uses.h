/*
 * How a module's code uses the words of its GOT: as the target of calls and jumps only, or also as
 * a value, which the program may store and compare.  Instructions of either machine are read on
 * either.
 */
#pragma once

#include "shared/base/macros.h"

#include <stddef.h>
#include <stdint.h>

enum word_use {
	WORD_USE_CALL = 1,  /* a call or jump through the word */
	WORD_USE_VALUE = 2, /* the word is, or may be, used in another way */
};

/* `count` words of 8 bytes from `first` on, and for each the bits of enum word_use. */
struct word_uses {
	uint64_t first;
	size_t count;
	uint8_t *uses;
};

/* Code, and the address where it runs. */
struct code_bytes {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
};

/* Adds the uses in this code.  Code that reaches the GOT by a 64-bit offset from its base (the
 * large code model) is not recognized. */
void word_uses_add_x86_64(const struct code_bytes *code, struct word_uses *uses);
void word_uses_add_aarch64(const struct code_bytes *code, struct word_uses *uses);

static inline void word_uses_add(const struct code_bytes *code, struct word_uses *uses)
{
#if defined(__x86_64__)
	word_uses_add_x86_64(code, uses);
#else
	word_uses_add_aarch64(code, uses);
#endif
}

static inline void word_uses_mark(struct word_uses *uses, uint64_t address, enum word_use use)
{
	uint64_t offset = address - uses->first;

	if (offset % sizeof(uint64_t) == 0 && offset / sizeof(uint64_t) < uses->count)
		uses->uses[offset / sizeof(uint64_t)] |= (uint8_t)use;
}
