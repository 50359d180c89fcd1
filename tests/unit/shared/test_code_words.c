/*
 * The word that _IO_enable_locks of glibc sets, by code as compilers have made it.
 */
#include "unit.h"

#include "shared/arch/code_words.h"

#define ADDRESS 0x83580u

#if defined(__x86_64__)
/* Debian's 2.36: mov 0x152456(%rip),%eax; test; jne; mov 0x1510cf(%rip),%rax; movl
 * $1,0x152441(%rip). */
static const unsigned char code[] = {
	0x8b, 0x05, 0x56, 0x24, 0x15, 0x00, 0x85, 0xc0, 0x75, 0x26, 0x48, 0x8b, 0x05, 0xcf,
	0x10, 0x15, 0x00, 0xc7, 0x05, 0x41, 0x24, 0x15, 0x00, 0x01, 0x00, 0x00, 0x00,
};
#define EXPECTED 0x1d59dcu
#else
/* Debian's 2.36: adrp x0; add x0, x0, 0x748; ldr w1, [x0, 40]; cbnz; adrp x1; mov w2, 1; str w2,
 * [x0, 40]. */
static const unsigned char code[] = {
	0x20, 0x09, 0x00, 0xf0, 0x00, 0x20, 0x1d, 0x91, 0x01, 0x28, 0x40, 0xb9, 0x61, 0x01,
	0x00, 0x35, 0x21, 0x09, 0x00, 0xd0, 0x22, 0x00, 0x80, 0x52, 0x02, 0x28, 0x00, 0xb9,
};
#define EXPECTED (0x83000u + 0x127000u + 0x748u + 40u)
#endif

static void finds_the_word_that_is_set(void **state)
{
	(void)state;
	assert_int_equal(arch_word_set(code, sizeof(code), ADDRESS), EXPECTED);
}

static void finds_nothing_else(void **state)
{
	static const unsigned char nothing[sizeof(code)] = { 0 };

	(void)state;
	assert_int_equal(arch_word_set(code, sizeof(code) - 1, ADDRESS), 0);
	assert_int_equal(arch_word_set(nothing, sizeof(nothing), ADDRESS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_word_that_is_set),
		cmocka_unit_test(finds_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
