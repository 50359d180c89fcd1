/*
 * The bounded cursor, and what people type.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/err.h"
#include "host/core/text/text.h"

static void takes_lines_without_a_last_newline(void **state)
{
	struct text text = text_of("one\n\ntwo"), line;

	(void)state;
	assert_true(text_take_line(&text, &line) && text_equals(line, "one"));
	assert_true(text_take_line(&text, &line) && text_equals(line, ""));
	assert_true(text_take_line(&text, &line) && text_equals(line, "two"));
	assert_false(text_take_line(&text, &line));
}

static void takes_words_between_blanks(void **state)
{
	struct text text = text_of(" \ta  bc "), word;

	(void)state;
	assert_true(text_take_word(&text, &word) && text_equals(word, "a"));
	assert_true(text_take_word(&text, &word) && text_equals(word, "bc"));
	assert_false(text_take_word(&text, &word));
}

static void refuses_a_number_that_does_not_fit(void **state)
{
	struct text text = text_of("18446744073709551616");
	const char *before = text.at;
	uint64_t value;

	(void)state;
	assert_false(text_take_number(&text, 10, &value));
	assert_ptr_equal(text.at, before);
	text = text_of("18446744073709551615");
	assert_true(text_take_number(&text, 10, &value) && value == UINT64_MAX);
	text = text_of("ffffffffffffffffX");
	assert_true(text_take_number(&text, 16, &value) && text_equals(text, "X"));
}

static void copies_what_fits(void **state)
{
	char buffer[4];

	(void)state;
	text_copy(text_of("abcdef"), buffer, sizeof(buffer));
	assert_string_equal(buffer, "abc");
	text_copy_printable(text_of("a\033["), buffer, sizeof(buffer));
	assert_string_equal(buffer, "a?[");
}

static void reads_files_of_any_size(void **state)
{
	char path[] = "/tmp/limpet-text-XXXXXX", bytes[70000], small[8];
	CLEANUP(free) char *text = NULL;
	size_t size = 0;
	int fd = mkstemp(path);

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	assert_int_equal(text_read_file(path, 1024, &text, &size), -EFBIG);
	assert_int_equal(text_read_file(path, 1 << 20, &text, &size), 0);
	assert_int_equal(size, sizeof(bytes));
	assert_int_equal(strlen(text), sizeof(bytes));
	assert_int_equal(text_read_small(path, small, sizeof(small)), 7);
	assert_string_equal(small, "xxxxxxx");
	unlink(path);
	assert_int_equal(text_read_small(path, small, sizeof(small)), -ENOENT);
}

static void parses_pids(void **state)
{
	pid_t pid = 0;

	(void)state;
	assert_int_equal(text_parse_pid("4242", &pid), 0);
	assert_int_equal(pid, 4242);
	assert_int_equal(text_parse_pid("0", &pid), -ERANGE);
	assert_int_equal(text_parse_pid("2147483648", &pid), -ERANGE);
	assert_int_equal(text_parse_pid("-1", &pid), -EINVAL);
	assert_int_equal(text_parse_pid("12x", &pid), -EINVAL);
	assert_int_equal(text_parse_pid("", &pid), -EINVAL);
}

static void parses_durations(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t ns;
	} cases[] = {
		{ "0", 0, 0 },
		{ "250", 0, 250000000000 },
		{ "250ms", 0, 250000000 },
		{ "1.5s", 0, 1500000000 },
		{ "0.000000001s", 0, 1 },
		{ "2m", 0, 120000000000 },
		{ "0.5", 0, 500000000 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "1.", -EINVAL, 0 },
		{ ".5s", -EINVAL, 0 },
		{ "1h", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "18446744073709551615m", -ERANGE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t ns = 0;

		assert_int_equal(text_parse_duration(cases[i].text, &ns), cases[i].result);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void errors_end_behind_words(void **state)
{
	char words[1000] = "";
	struct err err;

	(void)state;
	while (strlen(words) + 20 < sizeof(words))
		strcat(words, "something ");
	err_set(&err, -EIO, "%s", words);
	err_while(&err, "read '%s'", "a file");
	err_why(&err, "%s", words);
	err_fix(&err, "%s", words);
	assert_non_null(strstr(err.what, "read 'a file': something"));
	assert_string_equal(err.what + strlen(err.what) - 12, "something...");
	assert_string_equal(err.why + strlen(err.why) - 12, "something...");
	assert_string_equal(err.fix + strlen(err.fix) - 12, "something...");
}

static void shortens_behind_words(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *expected;
	} cases[] = {
		{ "as it is", 8, "as it is" },
		{ "one two three", 10, "one two..." },
		{ "one, two three", 9, "one..." },
		{ "wordwithoutend", 10, "wordwit..." },
		{ "\xc3\xa4\xc3\xa4\xc3\xa4", 5, "\xc3\xa4..." },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), "%s", cases[i].text);
		text_shorten(text, cases[i].size);
		assert_string_equal(text, cases[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shortens_behind_words),
		cmocka_unit_test(errors_end_behind_words),
		cmocka_unit_test(takes_lines_without_a_last_newline),
		cmocka_unit_test(takes_words_between_blanks),
		cmocka_unit_test(refuses_a_number_that_does_not_fit),
		cmocka_unit_test(copies_what_fits),
		cmocka_unit_test(reads_files_of_any_size),
		cmocka_unit_test(parses_pids),
		cmocka_unit_test(parses_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
