/*
 * Names of C++ in readable form.
 */
#include "unit.h"

#include <stdio.h>

#include "host/core/demangle.h"

static void reads(const char *name, const char *expected)
{
	char text[256];

	assert_true(demangle(name, text, sizeof(text)));
	assert_string_equal(text, expected);
}

static void is_none(const char *name)
{
	char text[256] = "x";

	assert_false(demangle(name, text, sizeof(text)));
	assert_string_equal(text, "");
}

static void readable_names(void **state)
{
	(void)state;
	reads("_Z6vecAddPKfS0_Pfi", "vecAdd(float const*, float const*, float*, int)");
	reads("_Z6vecAddPKfS0_Pfi.kd", "vecAdd(float const*, float const*, float*, int)");
	reads("_ZN4math6TensorIfE6reduceEPKfi", "math::Tensor<float>::reduce(float const*, int)");
}

static void names_of_rust(void **state)
{
	(void)state;
	reads("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	reads("_ZN4core3ptr28drop_in_place$LT$$RF$i32$GT$17h0123456789abcdefE",
	      "core::ptr::drop_in_place<&i32>");
	reads("_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17"
	      "hfedcba9876543210E",
	      "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop");
	reads("_ZN1a17h0123456789abcdeXE", "a::h0123456789abcdeX");
}

static void other_names(void **state)
{
	(void)state;
	is_none("");
	is_none("plain_kernel");
	is_none("i");
	is_none("_Z");
	is_none("_Z6vecAd");
	is_none("_Z999999999999999999999x");
}

/* Each pair is made of the one before, twice: thirty of them would be gigabytes. */
static void a_name_that_explodes_is_left(void **state)
{
	char name[1024], text[16384], *at = name;

	(void)state;
	at += sprintf(at, "_Z1f1pIiiE");
	for (int i = 0; i < 30; i++)
		at += i ? sprintf(at, "S_IS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i - 1],
				  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i - 1])
			: sprintf(at, "S_IS0_S0_E");
	assert_false(demangle(name, text, sizeof(text)));
	assert_string_equal(text, "");
}

static void too_long_for_its_room(void **state)
{
	char text[8];

	(void)state;
	assert_false(demangle("_Z6vecAddPKfS0_Pfi", text, sizeof(text)));
	assert_string_equal(text, "");
}

static void base_of(const char *readable, const char *expected)
{
	char text[32];

	demangled_base(readable, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void bare_names_of_functions(void **state)
{
	char text[4];

	(void)state;
	base_of("vecAdd(float const*, int)", "vecAdd");
	base_of("void add<float, int>(float*, int)", "add");
	base_of("Foo<int, float>::foo(a[], int (int))", "foo");
	base_of("plain_kernel", "plain_kernel");
	base_of("", "");
	base_of(")))", "");
	base_of("((((", "");
	demangled_base("abcdef", text, sizeof(text));
	assert_string_equal(text, "abc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readable_names),
		cmocka_unit_test(names_of_rust),
		cmocka_unit_test(other_names),
		cmocka_unit_test(a_name_that_explodes_is_left),
		cmocka_unit_test(too_long_for_its_room),
		cmocka_unit_test(bare_names_of_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
