/*
 * aarch64 code loads a word of the GOT by two instructions, and calls through the register:
 *
 *   adrp x3, page of the word
 *   ldr  x3, [x3, #offset in the page]
 *   blr  x3
 *
 * with others in between.  A load is a call's if its register is one that calls may change, and is
 * not named again before the blr or br.  All that cannot be followed counts as a use of the value.
 */
#include "shared/arch/word_uses.h"

#include <stdbool.h>

#define NEAR      32u /* instructions searched for the adrp and for the call */
#define CLOBBERED 18u /* the last register that calls may change */
#define NO_BASE   31u /* as a base: the stack pointer */
#define PAGE      4096u

enum { FIELD_D = 1, FIELD_N = 2, FIELD_A = 4, FIELD_M = 8 };

struct form {
	uint32_t mask, value;
	unsigned fields; /* in which general registers are named */
};

/* The first match counts; an instruction without one may use registers in any field. */
static const struct form forms[] = {
	{ 0x1f000000, 0x10000000, FIELD_D },                     /* adr, adrp */
	{ 0x1f800000, 0x12800000, FIELD_D },                     /* movn, movz, movk */
	{ 0x1f800000, 0x13800000, FIELD_D | FIELD_N | FIELD_M }, /* extr */
	{ 0x1c000000, 0x10000000, FIELD_D | FIELD_N },           /* others with immediates */
	{ 0x3a000000, 0x28000000, FIELD_D | FIELD_N | FIELD_A }, /* pairs */
	{ 0x3b000000, 0x39000000, FIELD_D | FIELD_N },           /* load, store: offset */
	{ 0x3b200000, 0x38000000, FIELD_D | FIELD_N },           /* load, store: near */
	{ 0x3b200c00, 0x38200800, FIELD_D | FIELD_N | FIELD_M }, /* load, store: register */
	{ 0x3b000000, 0x18000000, FIELD_D },                     /* load literal */
	{ 0xfffff01f, 0xd503201f, 0 },                           /* hints */
	{ 0x1f000000, 0x0a000000, FIELD_D | FIELD_N | FIELD_M }, /* logical */
	{ 0x1f000000, 0x0b000000, FIELD_D | FIELD_N | FIELD_M }, /* add, sub */
	{ 0x0e000000, 0x0e000000, FIELD_D | FIELD_N },           /* vector and float */
};

struct reader {
	const struct code_bytes *code;
	size_t count;
};

static uint32_t word_at(const struct reader *self, size_t index)
{
	return ((const uint32_t *)self->code->bytes)[index];
}

static unsigned field_of(uint32_t word, unsigned shift)
{
	return word >> shift & 31;
}

static bool instruction_names(uint32_t word, unsigned number)
{
	unsigned fields = FIELD_D | FIELD_N | FIELD_A | FIELD_M;

	for (unsigned i = 0; i < ARRAY_SIZE(forms); i++) {
		if ((word & forms[i].mask) == forms[i].value) {
			fields = forms[i].fields;
			break;
		}
	}
	return (fields & FIELD_D && field_of(word, 0) == number) ||
	       (fields & FIELD_N && field_of(word, 5) == number) ||
	       (fields & FIELD_A && field_of(word, 10) == number) ||
	       (fields & FIELD_M && field_of(word, 16) == number);
}

/* Branches, calls, returns, system calls. */
static bool instruction_leaves(uint32_t word)
{
	return (word & 0x1c000000) == 0x14000000 && (word & 0xfffff01f) != 0xd503201f;
}

static bool is_adrp(uint32_t word)
{
	return (word & 0x9f000000) == 0x90000000;
}

static uint64_t adrp_page(const struct reader *self, size_t index)
{
	uint32_t word = word_at(self, index);
	uint64_t pages = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
	uint64_t here = self->code->address + index * sizeof(word);

	return ALIGN_DOWN(here, PAGE) + ((pages ^ 0x100000) - 0x100000) * PAGE;
}

/* Where the base of the load or addition at `index` leads; false: not known. */
static bool find_page(const struct reader *self, size_t index, uint64_t *ret)
{
	unsigned base = field_of(word_at(self, index), 5);

	for (size_t i = index; i-- > 0 && index - i <= NEAR;) {
		uint32_t word = word_at(self, i);

		if (is_adrp(word) && field_of(word, 0) == base) {
			*ret = adrp_page(self, i);
			return true;
		}
		if (instruction_leaves(word) ||
		    (instruction_names(word, base) && field_of(word, 0) == base))
			return false;
	}
	return false;
}

/* Is the loaded register called, and used for nothing else? */
static bool is_called(const struct reader *self, size_t index)
{
	unsigned number = field_of(word_at(self, index), 0);

	for (size_t i = index + 1; i < self->count && i - index <= NEAR; i++) {
		uint32_t word = word_at(self, i);

		if ((word & 0xffdffc1f) == 0xd61f0000 && field_of(word, 5) == number)
			return number <= CLOBBERED;
		if (instruction_leaves(word) || instruction_names(word, number))
			return false;
	}
	return false;
}

/* Any page may be meant: all words at this offset of one. */
static void mark_offset(struct word_uses *uses, uint64_t offset)
{
	uint64_t first = ALIGN_DOWN(uses->first, PAGE) + offset % PAGE;

	for (uint64_t at = first; at < uses->first + uses->count * sizeof(uint64_t); at += PAGE)
		word_uses_mark(uses, at, WORD_USE_VALUE);
}

static void add_load(const struct reader *self, size_t index, struct word_uses *uses)
{
	uint32_t word = word_at(self, index);
	uint64_t offset = (word >> 10 & 0xfff) * sizeof(uint64_t), page;

	if (field_of(word, 5) == NO_BASE)
		return;
	if (find_page(self, index, &page))
		word_uses_mark(uses, page + offset,
			       is_called(self, index) ? WORD_USE_CALL : WORD_USE_VALUE);
	else
		mark_offset(uses, offset);
}

static void add_addition(const struct reader *self, size_t index, struct word_uses *uses)
{
	uint64_t page;

	if (find_page(self, index, &page))
		word_uses_mark(uses, page + (word_at(self, index) >> 10 & 0xfff), WORD_USE_VALUE);
}

static void add_literal(const struct reader *self, size_t index, struct word_uses *uses)
{
	uint64_t words = word_at(self, index) >> 5 & 0x7ffff;

	word_uses_mark(uses,
		       self->code->address +
			       (index + ((words ^ 0x40000) - 0x40000)) * sizeof(uint32_t),
		       WORD_USE_VALUE);
}

void word_uses_add_aarch64(const struct code_bytes *code, struct word_uses *uses)
{
	struct reader self = { code, code->size / sizeof(uint32_t) };

	for (size_t i = 0; i < self.count; i++) {
		uint32_t word = word_at(&self, i);

		if ((word & 0xffc00000) == 0xf9400000) /* ldr x, [x, #offset] */
			add_load(&self, i, uses);
		else if ((word & 0xffc00000) == 0x91000000) /* add x, x, #offset */
			add_addition(&self, i, uses);
		else if ((word & 0xff000000) == 0x58000000) /* ldr x, literal */
			add_literal(&self, i, uses);
	}
}
