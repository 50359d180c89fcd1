/*
 * Patterns of names, and which functions no pattern may have.
 */
#include "unit.h"

#include "target/hooks/wants.h"

#include <string.h>

static const struct traced named = { .symbol = "malloc", .domain = DOMAIN_ALLOC };
static const struct traced again = { .symbol = "malloc", .domain = DOMAIN_IO };
static const struct traced any = { .domain = DOMAIN_FUNCTION };

static bool matches(const char *pattern, const char *text)
{
	return pattern_matches(pattern, strlen(pattern), text);
}

static bool add(const char *pattern)
{
	return wants_add_pattern(&any, pattern, strlen(pattern));
}

static int setup(void **state)
{
	(void)state;
	wants_clear();
	return 0;
}

static void a_star_takes_any_letters(void **state)
{
	(void)state;
	assert_true(matches("*", ""));
	assert_true(matches("*", "*"));
	assert_true(matches("a*", "*a") == false);
	assert_true(matches("libc*.so", "libc.so"));
	assert_true(matches("*ab*ab", "xabyabab"));
	assert_false(matches("*ab", "abc"));
	assert_true(matches("a?c", "abc"));
	assert_false(matches("a?c", "ac"));
	assert_true(matches("function=*", "function=*;more"));
}

static void the_first_domain_has_a_function(void **state)
{
	(void)state;
	assert_true(wants_add(&named));
	assert_true(wants_add(&again));
	assert_true(add("*:*"));
	assert_ptr_equal(wants_find("malloc", "libc.so.6", true), &named);
	assert_ptr_equal(wants_find("calloc", "libc.so.6", true), &any);
}

static void a_pattern_names_the_library_too(void **state)
{
	(void)state;
	assert_true(add("libfoo.so*:bar*"));
	assert_true(wants_symbol("barrier"));
	assert_false(wants_symbol("foo"));
	assert_ptr_equal(wants_find("barrier", "libfoo.so.1", true), &any);
	assert_null(wants_find("barrier", "libbar.so", true));
}

static void a_pattern_without_colon_is_of_any_library(void **state)
{
	(void)state;
	assert_true(add("str?py"));
	assert_ptr_equal(wants_find("strcpy", "libc.so.6", true), &any);
}

static void what_returns_twice_or_asks_who_called_is_not_touched(void **state)
{
	static const char *const names[] = { "setjmp", "_setjmp",        "__sigsetjmp",
					     "vfork",  "dlsym",          "dlopen",
					     "mcount", "__tls_get_addr", "_Unwind_Resume" };

	(void)state;
	assert_true(add("*:*"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_null(wants_find(names[i], "libc.so.6", true));
}

static void too_many_patterns_are_refused(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WANTS_PATTERNS_MAX; i++)
		assert_true(add("a:b"));
	assert_false(add("a:b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_star_takes_any_letters, setup),
		cmocka_unit_test_setup(the_first_domain_has_a_function, setup),
		cmocka_unit_test_setup(a_pattern_names_the_library_too, setup),
		cmocka_unit_test_setup(a_pattern_without_colon_is_of_any_library, setup),
		cmocka_unit_test_setup(what_returns_twice_or_asks_who_called_is_not_touched, setup),
		cmocka_unit_test_setup(too_many_patterns_are_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
