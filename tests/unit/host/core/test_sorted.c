/*
 * Tests of searches in ascending lists: the ends, keys that stand several times, keys that are not
 * there.
 */
#include "unit.h"

#include "host/core/sorted.h"

static const uint64_t numbers[] = { 2, 4, 4, 4, 9, UINT64_MAX };
static const size_t count = sizeof(numbers) / sizeof(*numbers);

static uint64_t number_at(const void *items, size_t index)
{
	return ((const uint64_t *)items)[index];
}

static size_t below(uint64_t key)
{
	return count_below(numbers, count, key, number_at);
}

static size_t up_to(uint64_t key)
{
	return count_up_to(numbers, count, key, number_at);
}

static void the_first_of_equal_keys_is_found(void **state)
{
	(void)state;
	assert_int_equal(below(2), 0);
	assert_int_equal(below(4), 1);
	assert_int_equal(below(9), 4);
	assert_int_equal(below(UINT64_MAX), 5);
}

static void the_index_behind_equal_keys_is_found(void **state)
{
	(void)state;
	assert_int_equal(up_to(2), 1);
	assert_int_equal(up_to(4), 4);
	assert_int_equal(up_to(9), 5);
	assert_int_equal(up_to(UINT64_MAX), 6);
}

static void a_key_that_is_not_there_has_its_index(void **state)
{
	(void)state;
	assert_int_equal(below(0), 0);
	assert_int_equal(up_to(0), 0);
	assert_int_equal(below(5), 4);
	assert_int_equal(up_to(5), 4);
	assert_int_equal(up_to(10), 5);
}

static void an_empty_list_has_none(void **state)
{
	(void)state;
	assert_int_equal(count_below(NULL, 0, 7, number_at), 0);
	assert_int_equal(count_up_to(NULL, 0, UINT64_MAX, number_at), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_of_equal_keys_is_found),
		cmocka_unit_test(the_index_behind_equal_keys_is_found),
		cmocka_unit_test(a_key_that_is_not_there_has_its_index),
		cmocka_unit_test(an_empty_list_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
