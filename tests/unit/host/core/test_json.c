/*
 * JSON stays valid whatever is put into it.
 */
#include "unit.h"

#include <string.h>

#include "host/core/text/json.h"

/* Collects what is written. */
struct sink {
	char text[512];
	struct json json;
};

static void sink_open(struct sink *sink)
{
	memset(sink, 0, sizeof(*sink));
	sink->json.out = fmemopen(sink->text, sizeof(sink->text), "w");
	assert_non_null(sink->json.out);
}

static void sink_expect(struct sink *sink, const char *expected)
{
	fclose(sink->json.out);
	assert_string_equal(sink->text, expected);
}

static void writes_one_object_per_line(void **state)
{
	struct sink sink;

	(void)state;
	sink_open(&sink);
	for (int i = 0; i < 2; i++) {
		json_object(&sink.json, NULL);
		json_number(&sink.json, "n", UINT64_MAX);
		json_signed(&sink.json, "i", -1);
		json_bool(&sink.json, "yes", true);
		json_object_end(&sink.json);
	}
	sink_expect(&sink, "{\"n\":18446744073709551615,\"i\":-1,\"yes\":true}\n"
			   "{\"n\":18446744073709551615,\"i\":-1,\"yes\":true}\n");
}

static void writes_decimals_exactly(void **state)
{
	struct sink sink;

	(void)state;
	sink_open(&sink);
	json_list(&sink.json, NULL);
	json_fixed(&sink.json, NULL, 1234567, 3);
	json_fixed(&sink.json, NULL, 5, 3);
	json_fixed(&sink.json, NULL, 7, 0);
	json_fixed(&sink.json, NULL, UINT64_MAX, 2);
	json_list_end(&sink.json);
	sink_expect(&sink, "[1234.567,0.005,7,184467440737095516.15]\n");
}

static void nests_lists_and_objects(void **state)
{
	struct sink sink;

	(void)state;
	sink_open(&sink);
	json_object(&sink.json, NULL);
	json_list(&sink.json, "empty");
	json_list_end(&sink.json);
	json_list(&sink.json, "tools");
	json_object(&sink.json, NULL);
	json_text(&sink.json, "path", "a.so");
	json_object_end(&sink.json);
	json_text(&sink.json, NULL, "b");
	json_list_end(&sink.json);
	json_bool(&sink.json, "last", false);
	json_object_end(&sink.json);
	sink_expect(&sink, "{\"empty\":[],\"tools\":[{\"path\":\"a.so\"},\"b\"],\"last\":false}\n");
}

static void escapes_what_must_be_escaped(void **state)
{
	struct sink sink;

	(void)state;
	sink_open(&sink);
	json_object(&sink.json, NULL);
	json_text(&sink.json, "a\"b", "\"\\\b\f\n\r\t\001\033\177/");
	json_object_end(&sink.json);
	sink_expect(&sink, "{\"a\\\"b\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001b\\u007f/\"}\n");
}

static void replaces_what_is_not_utf8(void **state)
{
	static const struct {
		const char *bytes, *written;
	} cases[] = {
		{ "\xc3\xa4", "\xc3\xa4" },
		{ "\xf0\x9f\x90\x9a", "\xf0\x9f\x90\x9a" },
		{ "\xff", "\\ufffd" },
		{ "a\xc3", "a\\ufffd" },
		{ "\xc0\xaf", "\\ufffd\\ufffd" },
		{ "\xe0\x80\x80", "\\ufffd\\ufffd\\ufffd" },
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" },
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },
	};
	char expected[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sink sink;

		sink_open(&sink);
		json_object(&sink.json, NULL);
		json_text(&sink.json, "t", cases[i].bytes);
		json_object_end(&sink.json);
		snprintf(expected, sizeof(expected), "{\"t\":\"%s\"}\n", cases[i].written);
		sink_expect(&sink, expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_one_object_per_line),
		cmocka_unit_test(writes_decimals_exactly),
		cmocka_unit_test(nests_lists_and_objects),
		cmocka_unit_test(escapes_what_must_be_escaped),
		cmocka_unit_test(replaces_what_is_not_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
