/*
 * Lists of processors as the kernel writes them.
 */
#include "unit.h"

#include <string.h>

#include "host/sampling/processors.h"
#include "shared/base/macros.h"

static size_t parse(const char *list, int *cpus, size_t capacity)
{
	return processors_parse(list, strlen(list), cpus, capacity);
}

static void one_range(void **state)
{
	int cpus[8];

	(void)state;
	assert_int_equal(parse("0-3\n", cpus, 8), 4);
	assert_int_equal(cpus[3], 3);
	assert_int_equal(parse("0\n", cpus, 8), 1);
}

/* As where every second thread of a core is off, or a processor was taken out. */
static void numbers_with_gaps(void **state)
{
	const int expected[] = { 0, 2, 4, 6, 7, 128 };
	int cpus[8];

	(void)state;
	assert_int_equal(parse("0,2,4,6-7,128\n", cpus, 8), ARRAY_SIZE(expected));
	assert_memory_equal(cpus, expected, sizeof(expected));
}

static void no_more_than_there_is_room_for(void **state)
{
	int cpus[3] = { 0, 0, 77 };

	(void)state;
	assert_int_equal(parse("0-18446744073709551615", cpus, 2), 2);
	assert_int_equal(cpus[2], 77);
}

static void what_is_no_list_has_none(void **state)
{
	int cpus[8];

	(void)state;
	assert_int_equal(parse("", cpus, 8), 0);
	assert_int_equal(parse("\n", cpus, 8), 0);
	assert_int_equal(parse("x", cpus, 8), 0);
	assert_int_equal(parse("4-", cpus, 8), 0);
	assert_int_equal(parse("9-1", cpus, 8), 0);
}

static void this_machine_has_one(void **state)
{
	int cpus[PROCESSORS_MAX];

	(void)state;
	assert_true(processors_online(cpus, PROCESSORS_MAX) >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_range),
		cmocka_unit_test(numbers_with_gaps),
		cmocka_unit_test(no_more_than_there_is_room_for),
		cmocka_unit_test(what_is_no_list_has_none),
		cmocka_unit_test(this_machine_has_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
