/*
 * Ends of functions for aarch64, told by their instructions: on either machine.
 */
#include "unit.h"

#include "shared/arch/epilogue.h"

#define MOV_X0_X19        0xaa1303e0u
#define LDP_X19_X20_16    0xa94153f3u /* ldp x19, x20, [sp, #16] */
#define LDP_X21_X22_32    0xa9425bf5u
#define LDR_X23_48        0xf9401bf7u
#define LDP_X0_X1_16      0xa94107e0u
#define LDR_X19_FROM_X1   0xf9400833u
#define LDP_X29_X30_64    0xa8c47bfdu /* ldp x29, x30, [sp], #64 */
#define LDP_X29_X30_MINUS 0xa8fe7bfdu /* ..., #-32 */
#define LDP_X29_X30_320   0xa8d47bfdu
#define AUTIASP           0xd50323bfu
#define RET               0xd65f03c0u
#define RET_X1            0xd65f0020u
#define CODE(...)           \
	(const uint32_t[8]) \
	{                   \
		__VA_ARGS__ \
	}

static void knows_what_compilers_write(void **state)
{
	struct epilogue found;

	(void)state;
	assert_true(epilogue_read(CODE(MOV_X0_X19, LDP_X19_X20_16, LDP_X29_X30_64, RET), &found));
	assert_int_equal(found.frame_size, 64);
	assert_false(found.is_signed);
	assert_true(epilogue_read(CODE(MOV_X0_X19, LDP_X19_X20_16, LDP_X21_X22_32, LDR_X23_48,
				       LDP_X29_X30_64, AUTIASP, RET),
				  &found));
	assert_int_equal(found.frame_size, 64);
	assert_true(found.is_signed);
	assert_true(epilogue_read(CODE(MOV_X0_X19, LDP_X29_X30_64, RET), &found));
}

static void takes_nothing_else(void **state)
{
	struct epilogue found;

	(void)state;
	assert_false(epilogue_read(CODE(RET), &found));
	assert_false(epilogue_read(CODE(MOV_X0_X19, RET), &found));
	assert_false(epilogue_read(CODE(MOV_X0_X19, LDP_X0_X1_16, LDP_X29_X30_64, RET), &found));
	assert_false(epilogue_read(CODE(MOV_X0_X19, LDR_X19_FROM_X1, LDP_X29_X30_64, RET), &found));
	assert_false(epilogue_read(CODE(MOV_X0_X19, LDP_X29_X30_64, RET_X1), &found));
	assert_false(epilogue_read(CODE(MOV_X0_X19, LDP_X29_X30_64, AUTIASP, AUTIASP), &found));
	assert_false(epilogue_read(CODE(MOV_X0_X19, LDP_X29_X30_MINUS, RET), &found));
	assert_false(epilogue_read(CODE(MOV_X0_X19, LDP_X29_X30_320, RET), &found));
}

static void looks_no_further_than_it_may(void **state)
{
	struct epilogue found;
	const uint32_t code[] = { MOV_X0_X19,     LDP_X19_X20_16, LDP_X19_X20_16,
				  LDP_X19_X20_16, LDP_X19_X20_16, LDP_X19_X20_16,
				  LDP_X29_X30_64, AUTIASP,        RET };

	(void)state;
	assert_int_equal(EPILOGUE_MAX, 8);
	assert_false(epilogue_read(code, &found));
	assert_false(
		epilogue_read(CODE(MOV_X0_X19, LDP_X19_X20_16, LDP_X19_X20_16, LDP_X19_X20_16,
				   LDP_X19_X20_16, LDP_X19_X20_16, LDP_X19_X20_16, LDP_X29_X30_64),
			      &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_what_compilers_write),
		cmocka_unit_test(takes_nothing_else),
		cmocka_unit_test(looks_no_further_than_it_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
