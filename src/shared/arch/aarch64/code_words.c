/*
 * aarch64's part of shared/arch/code_words.h: adrp x1, page; [add x1, x1, distance;] str w0, [x1,
 * distance].
 */
#include "shared/arch/code_words.h"

#include <stdbool.h>
#include <string.h>

#define REGISTERS 32

/* The contents of registers: addresses, as far as known. */
struct addresses {
	uint64_t value[REGISTERS];
	bool is_known[REGISTERS];
};

static bool is_page(uint32_t word)
{
	return (word & 0x9f000000u) == 0x90000000u;
}

static bool is_sum(uint32_t word)
{
	return (word & 0xffc00000u) == 0x91000000u;
}

static bool is_store(uint32_t word)
{
	return (word & 0xffc00000u) == 0xb9000000u;
}

static uint64_t page_of(uint32_t word, uint64_t address)
{
	uint64_t pages = ((uint64_t)(word >> 5 & 0x7ffffu) << 2) | (word >> 29 & 3u);
	int64_t distance = (int64_t)(pages << 43) >> 43;

	return (address & ~0xfffull) + ((uint64_t)distance << 12);
}

/* Any other instruction may change the register in its lowest bits. */
static void addresses_follow(struct addresses *self, uint32_t word, uint64_t address)
{
	unsigned to = word & 31u, from = word >> 5 & 31u;
	bool is_known = is_page(word) || (is_sum(word) && self->is_known[from]);

	if (is_page(word))
		self->value[to] = page_of(word, address);
	else if (is_known)
		self->value[to] = self->value[from] + (word >> 10 & 0xfffu);
	self->is_known[to] = is_known;
}

uint64_t arch_word_set(const unsigned char *code, size_t size, uint64_t address)
{
	struct addresses known = { 0 };

	for (size_t at = 0; at + 4 <= size; at += 4) {
		uint32_t word;
		unsigned from;

		memcpy(&word, code + at, sizeof(word));
		from = word >> 5 & 31u;
		if (is_store(word) && known.is_known[from])
			return known.value[from] + 4ull * (word >> 10 & 0xfffu);
		addresses_follow(&known, word, address + at);
	}
	return 0;
}
