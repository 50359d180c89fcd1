/*
 * Bytes as base64, and back.
 */
#include "unit.h"

#include "host/core/text/base64.h"

#include <string.h>

/* RFC 4648, section 10. */
static const struct {
	const char *bytes, *text;
} known[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
};

static void writes_and_reads_what_the_rfc_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		char text[16] = "", bytes[16] = "";
		size_t size = strlen(known[i].bytes), back;

		base64_encode(text, known[i].bytes, size);
		assert_string_equal(text, known[i].text);
		assert_int_equal(strlen(text), BASE64_SIZE(size));
		assert_true(base64_decode(text, strlen(text), bytes, sizeof(bytes), &back));
		assert_int_equal(back, size);
		assert_memory_equal(bytes, known[i].bytes, size);
	}
}

static void takes_nothing_that_is_no_base64(void **state)
{
	static const char *const wrong[] = { "Zg",   "Zg=",   "Zg===",    "Z===",
					     "Zm9%", "Zm 9v", "Zg==Zg==", "====" };
	char bytes[16];
	size_t size;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(
			base64_decode(wrong[i], strlen(wrong[i]), bytes, sizeof(bytes), &size));
	assert_false(base64_decode("Zm9vYmFy", 8, bytes, 5, &size));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_and_reads_what_the_rfc_says),
		cmocka_unit_test(takes_nothing_that_is_no_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
