/*
 * What is foreign is written in no format as it is, and what is plain in every one.
 */
#include "unit.h"

#include <string.h>

#include "host/core/err.h"
#include "host/core/text/foreign.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"

#define C1          "\xc2\x9b"
#define TURNED      "\xe2\x80\xae" /* U+202E */
#define ISOLATED    "\xe2\x81\xa6" /* U+2066 */
#define ARABIC      "\xd8\x9c"     /* U+061C */
#define NO_LETTER   "\xef\xbf\xbf" /* U+FFFF */
#define REPLACED    "\xef\xbf\xbd"
#define LETTERS     "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9a"
#define ALL_HOSTILE "\x1b]0;x\a\x7f" C1 TURNED ISOLATED ARABIC NO_LETTER "\xff\r\v"

static void expect(enum foreign_format format, const char *text, const char *expected)
{
	char written[512] = "";
	FILE *out = fmemopen(written, sizeof(written), "w");

	assert_non_null(out);
	foreign_write(out, format, text);
	fclose(out);
	assert_string_equal(written, expected);
}

static void each_format_has_its_own_way(void **state)
{
	(void)state;
	expect(FOREIGN_TEXT, ALL_HOSTILE, "?]0;x??????????");
	expect(FOREIGN_TEXT, LETTERS " <&>;\"'", LETTERS " <&>;\"'");
	expect(FOREIGN_XML, "<script a='\"'>&]]>" C1 "\n",
	       "&lt;script a=&#39;&quot;&#39;&gt;&amp;]]&gt;??");
	expect(FOREIGN_FOLDED, "a;b\nc" TURNED, "a:b?c?");
	expect(FOREIGN_CSV, "a\"b\n\t" C1 "\xff\r", "a\"\"b\n\t" REPLACED REPLACED REPLACED);
	expect(FOREIGN_TEXT, "", "");
}

static void spreadsheets_compute_nothing(void **state)
{
	(void)state;
	expect(FOREIGN_CSV, "=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1");
	expect(FOREIGN_CSV, "+1+cmd", "'+1+cmd");
	expect(FOREIGN_CSV, "-1+cmd", "'-1+cmd");
	expect(FOREIGN_CSV, "@SUM(A1)", "'@SUM(A1)");
	expect(FOREIGN_CSV, "\t=1", "'\t=1");
	expect(FOREIGN_CSV, "-12.5", "-12.5");
	expect(FOREIGN_CSV, "a=b", "a=b");
}

static void copies_are_cut_between_letters(void **state)
{
	char buffer[5];

	(void)state;
	assert_string_equal(foreign_copy(buffer, sizeof(buffer), "ab\xe2\x82\xac"), "ab");
	assert_string_equal(foreign_copy(buffer, sizeof(buffer), "a\xe2\x82\xac"), "a\xe2\x82\xac");
	assert_string_equal(foreign_copy(buffer, sizeof(buffer), "\x1b[2J!"), "?[2J");
	assert_string_equal(foreign_copy(buffer, 1, "a"), "");
}

static void cleaning_keeps_what_it_is_told(void **state)
{
	char text[] = "a\n\x1b" C1 LETTERS TURNED "b\xc3";

	(void)state;
	foreign_clean(text, "\n");
	assert_string_equal(text, "a\n??" LETTERS "?b?");
	foreign_clean(text, "");
	assert_string_equal(text, "a???" LETTERS "?b?");
}

static void json_tells_letters_by_their_numbers(void **state)
{
	char written[256] = "";
	struct json json = { .out = fmemopen(written, sizeof(written), "w") };

	(void)state;
	json_list(&json, NULL);
	json_text(&json, NULL, "\x1b\x7f" C1 TURNED NO_LETTER "\xff\n" LETTERS);
	json_list_end(&json);
	fclose(json.out);
	assert_string_equal(written,
			    "[\"\\u001b\\u007f\\u009b\\u202e\\uffff\\ufffd\\n" LETTERS "\"]\n");
}

static char printed[512], usual[512];

#define SAME(...)                                                  \
	do {                                                       \
		print_into(printed, sizeof(printed), __VA_ARGS__); \
		snprintf(usual, sizeof(usual), __VA_ARGS__);       \
		assert_string_equal(printed, usual);               \
	} while (0)

static void prints_as_the_library_does(void **state)
{
	(void)state;
	SAME("%d|%5d|%-5d|%05d|%+d|% d|%i", -1, 22, 22, 22, 22, 22, 7);
	SAME("%u|%x|%#x|%X|%o|%lu|%llu|%zu|%hhu|%ju|%#lx", 1u, 255u, 255u, 255u, 8u, ~0ul, ~0ull,
	     (size_t)9, 200, (uintmax_t)3, 0xfful);
	SAME("%ld|%lld|%zd|%*d|%-*d|%.3d", -1l, -2ll, (ssize_t)-3, 6, 5, 6, 5, 7);
	SAME("%f|%.2f|%8.1f|%-8.1f|%e|%g|%+.2f|%.*f", 1.5, 2.345, 3.25, 3.25, 12345.678, 0.0001,
	     1.0, 1, 9.99);
	SAME("%s|%8s|%-8s|%.2s|%-8.3s|%*s|%-*s|%.*s|%s", "ab", "ab", "ab", "abc", "abcdef", 4, "x",
	     4, "x", 2, "xyz", "");
	SAME("%c|%3c|%-3c|%%|%p", 'a', 'b', 'c', (void *)0x1234);
	SAME("nothing");
}

static void what_is_printed_is_shown(void **state)
{
	(void)state;
	print_into(printed, sizeof(printed), "\n%s\n%c%c", "a\n\x1b[31m" C1 TURNED "\xff", '\x1b',
		   '\n');
	assert_string_equal(printed, "\na??[31m???\n??");
	/* Widths are letters; a letter that is cut is left out. */
	print_into(printed, sizeof(printed), "%-4s|%4s|%.2s|%.3s|", "\xc3\xa4", "\xc3\xa4",
		   "a\xc3\xa4", "a\xc3\xa4");
	assert_string_equal(printed, "\xc3\xa4   |   \xc3\xa4|a|a\xc3\xa4|");
	print_into(printed, 4, "%s", "abcdef");
	assert_string_equal(printed, "abc");
	print_into(printed, sizeof(printed), "%.*s", 2, (const char[]){ 'a', 'b' });
	assert_string_equal(printed, "ab");
}

static void errors_hold_nothing_raw(void **state)
{
	struct err err = { 0 };

	(void)state;
	err_set(&err, -1, "no '%s'", "x\x1b]0;a\a");
	err_while(&err, "open %s", "\n" C1);
	err_why(&err, "%s", "one\ntwo");
	err_fix(&err, "first %s\nsecond", "a\nrm -rf /");
	assert_string_equal(err.what, "open ??: no 'x?]0;a?'");
	assert_string_equal(err.why, "one?two");
	assert_string_equal(err.fix, "first a?rm -rf /\nsecond");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_format_has_its_own_way),
		cmocka_unit_test(spreadsheets_compute_nothing),
		cmocka_unit_test(copies_are_cut_between_letters),
		cmocka_unit_test(cleaning_keeps_what_it_is_told),
		cmocka_unit_test(json_tells_letters_by_their_numbers),
		cmocka_unit_test(prints_as_the_library_does),
		cmocka_unit_test(what_is_printed_is_shown),
		cmocka_unit_test(errors_hold_nothing_raw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
