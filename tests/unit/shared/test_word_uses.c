/*
 * What code does with words of a GOT, told by its instructions: those of either machine on either.
 */
#include "unit.h"

#include "shared/arch/word_uses.h"

#include <string.h>

#define CODE  0x400000u
#define TABLE 0x410f80u
#define WORDS 16

static uint8_t uses[WORDS];

static struct word_uses table_clear(void)
{
	memset(uses, 0, sizeof(uses));
	return (struct word_uses){ TABLE, WORDS, uses };
}

/* An instruction of x86-64 that reaches a word; returns what the word is used for. */
static unsigned use_of(const char *before, size_t before_size, const char *after, size_t after_size)
{
	struct word_uses table = table_clear();
	uint8_t code[32] = { 0x90, 0x90 };
	size_t at = 2 + before_size;
	int32_t distance = (int32_t)(TABLE + 8 - (CODE + at + 4 + after_size));

	memcpy(code + 2, before, before_size);
	memcpy(code + at, &distance, sizeof(distance));
	memcpy(code + at + 4, after, after_size);
	word_uses_add_x86_64(&(struct code_bytes){ code, sizeof(code), CODE }, &table);
	for (unsigned i = 0; i < WORDS; i++)
		assert_true(i == 1 || !uses[i]);
	return uses[1];
}

#define USE(before, after) use_of(before, sizeof(before) - 1, after, sizeof(after) - 1)

static void knows_calls_and_jumps_of_x86_64(void **state)
{
	(void)state;
	assert_int_equal(USE("\xff\x15", ""), WORD_USE_CALL);
	assert_int_equal(USE("\xff\x25", ""), WORD_USE_CALL);
	assert_int_equal(USE("\xf2\xff\x25", ""), WORD_USE_CALL); /* bnd jmp, as in .plt.sec */
	assert_int_equal(USE("\x67\xff\x15", ""), WORD_USE_CALL);
}

static void takes_all_else_of_x86_64_for_a_value(void **state)
{
	(void)state;
	assert_int_equal(USE("\x48\x8b\x05", ""), WORD_USE_VALUE);     /* mov word, %rax */
	assert_int_equal(USE("\x48\x8d\x15", ""), WORD_USE_VALUE);     /* lea word, %rdx */
	assert_int_equal(USE("\x48\x3b\x1d", ""), WORD_USE_VALUE);     /* cmp word, %rbx */
	assert_int_equal(USE("\xff\x35", ""), WORD_USE_VALUE);         /* push word */
	assert_int_equal(USE("\x48\x83\x3d", "\x00"), WORD_USE_VALUE); /* cmpq $0, word */
	assert_int_equal(USE("\x66\x81\x3d", "\x00\x00"), WORD_USE_VALUE);
	assert_int_equal(USE("\x48\x81\x3d", "\x00\x00\x00\x00"), WORD_USE_VALUE);
}

#define LDR(t, n, at) (0xf9400000u | (at) / 8 << 10 | (n) << 5 | (t))
#define ADD(d, n, at) (0x91000000u | (at) << 10 | (n) << 5 | (d))
#define BLR(n)        (0xd63f0000u | (n) << 5)
#define BR(n)         (0xd61f0000u | (n) << 5)
#define MOV(d, m)     (0xaa0003e0u | (m) << 16 | (d))
#define STR(t, n)     (0xf9000000u | (n) << 5 | (t))
#define MOVZ(d, to)   (0xd2800000u | (to) << 5 | (d))
#define B_NE          0x54000041u
#define NOP           0xd503201fu
#define AT            0xf88u /* of the second word, in its page */

/* adrp: 16 pages ahead. */
static uint32_t adrp(unsigned d)
{
	return 0x90000000u | (16u >> 2) << 5 | (16u & 3) << 29 | d;
}

static unsigned use_in(const uint32_t *code, size_t size)
{
	struct word_uses table = table_clear();

	word_uses_add_aarch64(&(struct code_bytes){ (const uint8_t *)code, size, CODE }, &table);
	return uses[1];
}

#define USE_IN(...) \
	use_in((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }))

static void knows_calls_and_jumps_of_aarch64(void **state)
{
	(void)state;
	assert_int_equal(USE_IN(adrp(3), LDR(3, 3, AT), BLR(3)), WORD_USE_CALL);
	assert_int_equal(USE_IN(adrp(16), LDR(16, 16, AT), BR(16)), WORD_USE_CALL);
	assert_int_equal(
		USE_IN(adrp(2), MOVZ(0, 2), LDR(4, 2, AT), MOV(1, 19), MOVZ(2, 4), NOP, BLR(4)),
		WORD_USE_CALL);
	assert_int_equal(USE_IN(adrp(2), LDR(4, 2, AT), LDR(5, 2, AT), BLR(4)),
			 WORD_USE_CALL | WORD_USE_VALUE);
}

static void takes_all_else_of_aarch64_for_a_value(void **state)
{
	(void)state;
	assert_int_equal(USE_IN(adrp(0), LDR(0, 0, AT), NOP, 0xd65f03c0u), WORD_USE_VALUE);
	assert_int_equal(USE_IN(adrp(3), LDR(3, 3, AT), STR(3, 19), BLR(3)), WORD_USE_VALUE);
	assert_int_equal(USE_IN(adrp(3), LDR(3, 3, AT), B_NE, BLR(3)), WORD_USE_VALUE);
	assert_int_equal(USE_IN(adrp(3), LDR(3, 3, AT), BLR(4), BLR(3)), WORD_USE_VALUE);
	assert_int_equal(USE_IN(adrp(3), LDR(20, 3, AT), BLR(20)), WORD_USE_VALUE); /* is kept */
	assert_int_equal(USE_IN(adrp(3), ADD(3, 3, AT), LDR(3, 3, 0)), WORD_USE_VALUE);
	/* Where the base comes from is not seen. */
	assert_int_equal(USE_IN(LDR(3, 2, AT), BLR(3)), WORD_USE_VALUE);
	assert_int_equal(USE_IN(adrp(2), BLR(9), LDR(3, 2, AT), BLR(3)), WORD_USE_VALUE);
	assert_int_equal(USE_IN(adrp(2), MOV(2, 5), LDR(3, 2, AT), BLR(3)), WORD_USE_VALUE);
	/* ldr x0, literal: the word itself. */
	assert_int_equal(USE_IN(0x58000000u | ((TABLE + 8 - CODE) / 4) << 5), WORD_USE_VALUE);
}

static void leaves_other_words_alone(void **state)
{
	(void)state;
	assert_int_equal(USE_IN(adrp(3), LDR(3, 3, AT + 8), BLR(3)), 0);
	assert_int_equal(USE_IN(0x90000000u | 3, LDR(3, 3, AT), BLR(3)), 0); /* another page */
	assert_int_equal(USE_IN(LDR(3, 31, AT)), 0);                         /* of the stack */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_calls_and_jumps_of_x86_64),
		cmocka_unit_test(takes_all_else_of_x86_64_for_a_value),
		cmocka_unit_test(knows_calls_and_jumps_of_aarch64),
		cmocka_unit_test(takes_all_else_of_aarch64_for_a_value),
		cmocka_unit_test(leaves_other_words_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
