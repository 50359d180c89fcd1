/*
 * Where a function that leaves its stack for another (swapcontext of glibc on aarch64) has its
 * return address, by instructions of our own in that shape.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "host/unwind/arch/aarch64/follow.h"

#define WORDS 22u
#define COPY  8u  /* add x2, x0, #40 */
#define CALL  15u /* bl */

static const uint32_t whole[WORDS] = {
	0xd503201f, /* nop */
	0xa90bf81f, /* stp xzr, x30, [x0, #184] */
	0x1000023e, /* adr x30, back */
	0xa919f41c, /* stp x28, x29, [x0, #408] */
	0x91074002, /* add x2, x0, #464 */
	0xf900005f, /* str xzr, [x2] */
	0x91004042, /* add x2, x2, #16 */
	0xaa0103f5, /* mov x21, x1 */
	0x9100a002, /* add x2, x0, #40 */
	0xd2800000, /* mov x0, #0 */
	0xd28010e8, /* mov x8, #135 */
	0xd4000001, /* svc #0 */
	0xb50000c0, /* cbnz x0, fail */
	0xaa1e03f6, /* mov x22, x30 */
	0xaa1503e0, /* mov x0, x21 */
	0x94000013, /* bl */
	0xaa1603fe, /* mov x30, x22 */
	0xd65f03c0, /* ret */
	0x14000020, /* fail: b */
	0xd503201f, /* back: nop */
	0xaa0103fe, /* mov x30, x1 */
	0xd65f03c0, /* ret */
};

static bool read_code(const uint32_t *words, size_t size, struct swap_code *ret)
{
	unsigned char *bytes = malloc(size + !size); /* exactly so many: sanitizers look on */
	struct object_part code = { .bytes = bytes, .size = size };
	bool is_read;

	assert_non_null(bytes);
	memcpy(bytes, words, size);
	is_read = swap_read(&code, ret);
	free(bytes);
	return is_read;
}

static void follows_the_return_address(void **state)
{
	struct swap_code swap;

	(void)state;
	assert_true(read_code(whole, sizeof(whole), &swap));
	assert_int_equal(swap.saved[0].start, 3 * 4);
	assert_int_equal(swap.saved[0].in, 0);
	assert_int_equal(swap.saved[0].offset, 192);
	assert_int_equal(swap.saved[1].start, (COPY + 1) * 4);
	assert_int_equal(swap.saved[1].in, 2);
	assert_int_equal(swap.saved[1].offset, 192 - 40);
	assert_int_equal(swap.call, (CALL + 1) * 4 - 1);
	assert_int_equal(swap.back, 19 * 4);
	assert_int_equal(swap.back_end, 21 * 4);
	assert_int_equal(swap.back_in, 1);
}

/* One instruction is another one. */
static bool is_read_with(unsigned at, uint32_t word)
{
	struct swap_code swap;
	uint32_t words[WORDS];

	memcpy(words, whole, sizeof(words));
	words[at] = word;
	return read_code(words, sizeof(words), &swap);
}

static void believes_no_other_code(void **state)
{
	(void)state;
	assert_true(is_read_with(0, 0xd503245f));         /* bti c */
	assert_false(is_read_with(1, 0xa90bf83f));        /* into another structure */
	assert_false(is_read_with(2, 0xd503201f));        /* x30 stays */
	assert_false(is_read_with(2, 0x10fffffe));        /* back lies before it */
	assert_false(is_read_with(COPY, 0xd503201f));     /* nothing points there any more */
	assert_false(is_read_with(COPY + 2, 0xd2800002)); /* mov x2, #0 */
	assert_false(is_read_with(CALL, 0xd503201f));     /* it never leaves */
	assert_false(is_read_with(20, 0xd503201f));       /* x30 stays another */
}

static void reads_nothing_behind_the_end(void **state)
{
	struct swap_code swap;

	(void)state;
	for (size_t size = 0; size < sizeof(whole); size++)
		assert_false(read_code(whole, size, &swap) && swap.back_end >= size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_return_address),
		cmocka_unit_test(believes_no_other_code),
		cmocka_unit_test(reads_nothing_behind_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
