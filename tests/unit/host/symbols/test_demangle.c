/*
 * Names of C++ in readable form.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "host/symbols/demangle/demangle.h"

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
	reads("_ZN1a1f17h0123456789abcdefE.llvm.12345678901234567890", "a::f");
	reads("_ZN1a1f17h0123456789abcdefE.llvm.12AB@3", "a::f");
	reads("_ZN1a1fEv.llvm.1234", "a::f() [clone .llvm.1234]"); /* of C++, as c++filt has it */
}

/* Examples of RFC 2603, and of rustc. */
static void names_of_rust_in_its_new_scheme(void **state)
{
	(void)state;
	reads("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	reads("_RNvNtNtCs1234_7mycrate3foo3bar3baz", "mycrate::foo::bar::baz");
	reads("_RNCNvCs1234_7mycrate4main0", "mycrate::main::{closure#0}");
	reads("_RNCNvCs1234_7mycrate4mains_0", "mycrate::main::{closure#1}");
	reads("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>");
	reads("_RNvMs_NtCs1234_7mycrate1mNtB4_3Foo3bar", "<mycrate::m::Foo>::bar");
	reads("_RNvXs5_NtC1a1bINtB5_1VTlhEENtNtC4core3ops4Drop4drop",
	      "<a::b::V<(i32, u8)> as core::ops::Drop>::drop");
	reads("_RINvC1a1fReQhPlOSAmj4_E", "a::f::<&str, &mut u8, *const i32, *mut [[u32; 4]]>");
	reads("_RINvC1a1fKj7b_Kln1_Kb1_Kc41_KpE", "a::f::<123, -1, true, 'A', _>");
	reads("_RINvC1a1fFG_RL0_lEuFUKCEzE",
	      "a::f::<for<'a> fn(&'a i32), unsafe extern \"C\" fn() -> !>");
	reads("_RINvC1a1fDNtC1b1TEL_DINtC1b2FntEp6OutputuEL_E",
	      "a::f::<dyn b::T, dyn b::Fn<u16, Output = ()>>");
	reads("_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
	      "utf8_idents::\xe1\x83\xa1\xe1\x83\x90\xe1\x83\xad\xe1\x83\x9b\xe1\x83\x94"
	      "\xe1\x83\x9a\xe1\x83\x90\xe1\x83\x93_\xe1\x83\x92\xe1\x83\x94\xe1\x83\x9b"
	      "\xe1\x83\xa0\xe1\x83\x98\xe1\x83\x94\xe1\x83\x9a\xe1\x83\x98_"
	      "\xe1\x83\xa1\xe1\x83\x90\xe1\x83\x93\xe1\x83\x98\xe1\x83\x9a\xe1\x83\x98");
	reads("_RNvC1a1f.llvm.1234", "a::f");
}

static void names_that_are_nearly_of_rust(void **state)
{
	(void)state;
	is_none("_R");
	is_none("_R0NvC1a1f");
	is_none("_RNvC1a");
	is_none("_RNvC1a99f");
	is_none("_RNvC1a1fx");
	is_none("_RNvB_1f");
	is_none("_RNvBz_1f");
	is_none("_RINvC1a1fKl_1E");
	is_none("_RINvC1a1fL0_E");
	is_none("_RNvC1a99999999999999999999999999f");
}

/* Each tuple is twice the one before; and depth without end. */
static void names_of_rust_that_explode(void **state)
{
	char name[8192], text[4096], *at = name;

	(void)state;
	at += sprintf(at, "_RINvC1a1fTllE");
	for (int i = 0, digit = 8; i < 26; i++) {
		int here = (int)(at - name) - 2;

		at += sprintf(
			at, "TB%c_B%c_E",
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit - 1],
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit -
											 1]);
		digit = here < 62 ? here : digit;
	}
	sprintf(at, "E");
	assert_false(demangle(name, text, sizeof(text)));
	memset(name, 'R', sizeof(name) - 1);
	memcpy(name, "_RINvC1a1f", 10);
	name[sizeof(name) - 2] = '\0';
	assert_false(demangle(name, text, sizeof(text)));
	assert_string_equal(text, "");
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
		cmocka_unit_test(names_of_rust_in_its_new_scheme),
		cmocka_unit_test(names_that_are_nearly_of_rust),
		cmocka_unit_test(names_of_rust_that_explode),
		cmocka_unit_test(other_names),
		cmocka_unit_test(a_name_that_explodes_is_left),
		cmocka_unit_test(too_long_for_its_room),
		cmocka_unit_test(bare_names_of_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
