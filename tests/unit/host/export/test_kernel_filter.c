/*
 * Which kernels are wanted.
 */
#include "unit.h"

#include <errno.h>

#include "host/export/amd/view/kernel_filter.h"

static struct err err;

static void make(struct kernel_filter *filter, const char *include, const char *exclude,
		 const char *iterations)
{
	struct kernel_filter_options options = { include, exclude, iterations };

	assert_int_equal(kernel_filter_init(filter, &options, &err), 0);
}

static void without_filters_all_are(void **state)
{
	struct kernel_filter filter;

	(void)state;
	make(&filter, NULL, "", NULL);
	assert_int_equal(kernel_filter_takes(&filter, 0, 1, "any"), 1);
	kernel_filter_done(&filter);
}

static void by_name(void **state)
{
	struct kernel_filter filter;

	(void)state;
	make(&filter, "gemm|conv", "_small$", NULL);
	assert_int_equal(kernel_filter_takes(&filter, 0, 1, "my_gemm_kernel"), 1);
	assert_int_equal(kernel_filter_takes(&filter, 0, 2, "conv_small"), 0);
	assert_int_equal(kernel_filter_takes(&filter, 0, 3, "copy"), 0);
	kernel_filter_done(&filter);
}

static void by_how_often_it_ran(void **state)
{
	static const int expected[] = { 0, 1, 1, 0, 0, 1, 0 };
	struct kernel_filter filter;

	(void)state;
	make(&filter, NULL, NULL, " [2-3] , [ 6 ]");
	for (unsigned again = 0; again < 2; again++) {
		for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
			assert_int_equal(kernel_filter_takes(&filter, 0, 1, "a"), expected[i]);
			assert_int_equal(kernel_filter_takes(&filter, 1, 1, "a"), expected[i]);
		}
		kernel_filter_begin(&filter);
	}
	kernel_filter_done(&filter);
}

/* Those that are not wanted by name do not count. */
static void counts_only_the_wanted(void **state)
{
	struct kernel_filter filter;

	(void)state;
	make(&filter, "^a", NULL, "1");
	assert_int_equal(kernel_filter_takes(&filter, 0, 2, "b"), 0);
	assert_int_equal(kernel_filter_takes(&filter, 0, 1, "a"), 1);
	assert_int_equal(kernel_filter_takes(&filter, 0, 1, "a"), 0);
	kernel_filter_done(&filter);
}

static void nonsense_is_refused(void **state)
{
	static const char *const ranges[] = { "x", "[",    "3-1",
					      "0", "[1-",  "1 2",
					      ",", "1,,2", "99999999999999999999999" };
	struct kernel_filter filter;
	struct kernel_filter_options options = { .include = "(" };

	(void)state;
	assert_int_equal(kernel_filter_init(&filter, &options, &err), -EINVAL);
	assert_int_equal(err.exit, EXIT_USAGE);
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		options = (struct kernel_filter_options){ .iterations = ranges[i] };
		assert_int_equal(kernel_filter_init(&filter, &options, &err), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_filters_all_are), cmocka_unit_test(by_name),
		cmocka_unit_test(by_how_often_it_ran),     cmocka_unit_test(counts_only_the_wanted),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
