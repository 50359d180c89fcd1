/*
 * The auxiliary vector, whole and cut.
 */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "host/process/auxv.h"

static void finds_values_up_to_the_end_mark(void **state)
{
	const uint64_t words[] = { AT_BASE, 0x7000, AT_PHNUM, 9, AT_NULL, 0, AT_ENTRY, 5 };
	struct auxv auxv;
	struct err err;

	(void)state;
	assert_int_equal(auxv_parse(words, sizeof(words), &auxv, &err), 0);
	assert_int_equal(auxv_value(&auxv, AT_BASE), 0x7000);
	assert_int_equal(auxv_value(&auxv, AT_PHNUM), 9);
	assert_int_equal(auxv_value(&auxv, AT_ENTRY), 0);
	assert_int_equal(auxv_value(&auxv, AT_RANDOM), 0);
}

static void leaves_out_what_is_cut_off(void **state)
{
	const uint64_t words[] = { AT_BASE, 0x7000, AT_PHNUM, 9 };
	struct auxv auxv;
	struct err err;

	(void)state;
	assert_int_equal(auxv_parse(words, sizeof(words) - 1, &auxv, &err), 0);
	assert_int_equal(auxv.size, 16);
	assert_int_equal(auxv_value(&auxv, AT_PHNUM), 0);
	assert_int_equal(auxv_parse(words, 0, &auxv, &err), 0);
	assert_int_equal(auxv_value(&auxv, AT_BASE), 0);
}

static void refuses_more_than_fits(void **state)
{
	static const unsigned char bytes[AUXV_MAX_BYTES + 1];
	struct auxv auxv;
	struct err err;

	(void)state;
	assert_int_equal(auxv_parse(bytes, AUXV_MAX_BYTES, &auxv, &err), 0);
	assert_int_equal(auxv_parse(bytes, sizeof(bytes), &auxv, &err), -EFBIG);
}

static void agrees_with_the_c_library_about_ourselves(void **state)
{
	static const uint64_t types[] = { AT_BASE, AT_PHDR, AT_ENTRY, AT_RANDOM, AT_PAGESZ };
	struct auxv auxv;
	struct err err;

	(void)state;
	assert_int_equal(auxv_read(getpid(), &auxv, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		assert_int_equal(auxv_value(&auxv, types[i]), getauxval(types[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_values_up_to_the_end_mark),
		cmocka_unit_test(leaves_out_what_is_cut_off),
		cmocka_unit_test(refuses_more_than_fits),
		cmocka_unit_test(agrees_with_the_c_library_about_ourselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
