/*
 * Options: every spelling, every mistake, and the nearest right name.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/core/options.h"
#include "host/core/text/nearest.h"

struct values {
	bool unload, json;
	const char *output;
	uint64_t count, duration_ns, span_ns, size;
	struct option_list env;
	uint32_t colours;
};

#define FIELD(member) offsetof(struct values, member)

static const struct option_desc table[] = {
	{ 'u', "unload", NULL, "unmap the agent", FIELD(unload) },
	{ 0, "json", NULL, "one object per line", FIELD(json) },
	{ 'o', "output", "FILE", "write FILE", FIELD(output), OPTION_TEXT },
	{ 'n', "count", "N", "so many", FIELD(count), OPTION_NUMBER },
	{ 'd', "duration", "TIME", "stop after TIME", FIELD(duration_ns), OPTION_DURATION },
	{ 0, "span", "TIME", "stop after TIME, which is not 0", FIELD(span_ns), OPTION_SPAN },
	{ 0, "size", "SIZE", "as large", FIELD(size), OPTION_SIZE },
	{ 'e', "env", "K=V", "set a variable", FIELD(env), OPTION_LIST },
	{ 'r', "red", NULL, "one bit", FIELD(colours), OPTION_BITS, 1 },
	{ 0, "warm", NULL, "more than one", FIELD(colours), OPTION_BITS, 3 },
	{ 0, "blue", NULL, "another", FIELD(colours), OPTION_BITS, 4 },
	{ 0 },
};

/* Parses words that are separated by single blanks. */
static int parse(const char *line, char **argv, struct values *values, struct err *err)
{
	static char copy[256];
	size_t count = 0;

	memset(values, 0, sizeof(*values));
	memset(err, 0, sizeof(*err));
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[count++] = word;
	argv[count] = NULL;
	return options_parse(table, argv, values, err);
}

static void accepts_every_spelling(void **state)
{
	static const char *const lines[] = {
		"42 --unload --output f --count 7 --duration 2s",
		"--unload --output=f --count=7 --duration=2s 42",
		"-u -o f -n 7 -d 2s 42",
		"-uof 42 -n7 -d2s",
		"--output f -un7 -d 2s -- 42",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct values values;
		struct err err;
		char *argv[16];

		assert_int_equal(parse(lines[i], argv, &values, &err), 1);
		assert_string_equal(argv[0], "42");
		assert_null(argv[1]);
		assert_true(values.unload);
		assert_false(values.json);
		assert_string_equal(values.output, "f");
		assert_int_equal(values.count, 7);
		assert_int_equal(values.duration_ns, 2000000000);
	}
}

static void reads_sizes(void **state)
{
	static char wrong[][16] = { "0", "5 ", "5KK", "K", "-1", "99999999999G", "" };
	static char name[] = "--size";
	struct values values = { 0 };
	struct err err;
	char *argv[16];

	(void)state;
	assert_int_equal(parse("--size 512k", argv, &values, &err), 0);
	assert_int_equal(values.size, 512 << 10);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char *words[] = { name, wrong[i], NULL };

		assert_true(options_parse(table, words, &values, &err) < 0);
	}
}

static void collects_lists_and_operands_in_order(void **state)
{
	struct values values;
	struct err err;
	char *argv[16];

	(void)state;
	assert_int_equal(parse("a --env A=1 b -eB=2 - -- --json -x", argv, &values, &err), 5);
	assert_string_equal(argv[2], "-");
	assert_string_equal(argv[3], "--json");
	assert_string_equal(argv[4], "-x");
	assert_int_equal(values.env.count, 2);
	assert_string_equal(values.env.items[0], "A=1");
	assert_string_equal(values.env.items[1], "B=2");
	assert_false(values.json);
}

static void refuses_mistakes_with_the_usage_code(void **state)
{
	static const struct {
		const char *line, *what, *fix;
	} cases[] = {
		{ "--jsno", "unknown option --jsno", "--json" },
		{ "--dur 3", "unknown option --dur", "--duration" },
		{ "--zzzzzz", "unknown option --zzzzzz", "" },
		{ "-x", "unknown option -x", "" },
		{ "--unload=1", "option --unload takes no argument", "" },
		{ "42 --output", "option --output needs an argument", "" },
		{ "-uo", "option --output needs an argument", "" },
		{ "--count=-1", "invalid value '-1' for --count", "" },
		{ "-d 3h", "invalid value '3h' for --duration", "" },
		{ "--span 3h", "invalid value '3h' for --span", "" },
		{ "--span 0", "invalid value '0' for --span", "" },
		{ "--span 0ms", "invalid value '0ms' for --span", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct values values;
		struct err err;
		char *argv[16];

		assert_int_equal(parse(cases[i].line, argv, &values, &err), -EINVAL);
		assert_int_equal(err.exit, EXIT_USAGE);
		assert_string_equal(err.what, cases[i].what);
		assert_string_equal(err.fix, cases[i].fix);
	}
}

static void refuses_more_list_items_than_fit(void **state)
{
	struct values values = { 0 };
	struct err err = { 0 };
	char word[] = "-ex", *argv[OPTION_LIST_MAX + 2];

	(void)state;
	for (size_t i = 0; i <= OPTION_LIST_MAX; i++)
		argv[i] = word;
	argv[OPTION_LIST_MAX] = NULL;
	assert_int_equal(options_parse(table, argv, &values, &err), 0);
	argv[0] = word;
	argv[1] = NULL;
	assert_int_equal(options_parse(table, argv, &values, &err), -EINVAL);
}

static void sees_a_call_for_help_but_not_behind_the_dashes(void **state)
{
	char help[] = "--help", end[] = "--", word[] = "x";
	char *asked[] = { word, help, NULL }, *not_asked[] = { word, end, help, NULL };

	(void)state;
	assert_true(options_want_help(asked));
	assert_false(options_want_help(not_asked));
}

static void writes_help_from_the_table(void **state)
{
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	options_print_help(table, out);
	fclose(out);
	assert_non_null(strstr(text, "  -u, --unload               unmap the agent\n"));
	assert_non_null(strstr(text, "      --json                 one object per line\n"));
	assert_non_null(strstr(text, "  -o, --output FILE          write FILE\n"));
}

static void finds_the_nearest_name(void **state)
{
	static const char *const names[] = { "attach", "detach", "status", "ps", "doctor" };
	static const struct {
		const char *typed, *best;
	} cases[] = {
		{ "attahc", "attach" }, { "atach", "attach" },
		{ "stat", "status" },   { "dettach", "detach" },
		{ "pss", "ps" },        { "xyz", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nearest nearest = { .wanted = cases[i].typed };

		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			nearest_offer(&nearest, names[j]);
		if (cases[i].best)
			assert_string_equal(nearest.best, cases[i].best);
		else
			assert_null(nearest.best);
	}
}

static void bits_add_up(void **state)
{
	static const struct {
		const char *line;
		uint32_t colours;
	} cases[] = { { "x", 0 }, { "-r", 1 }, { "--warm --red", 3 }, { "--blue -ru", 5 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *argv[8];
		struct values values;
		struct err err;

		assert_true(parse(cases[i].line, argv, &values, &err) >= 0);
		assert_int_equal(values.colours, cases[i].colours);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_every_spelling),
		cmocka_unit_test(reads_sizes),
		cmocka_unit_test(collects_lists_and_operands_in_order),
		cmocka_unit_test(refuses_mistakes_with_the_usage_code),
		cmocka_unit_test(refuses_more_list_items_than_fit),
		cmocka_unit_test(sees_a_call_for_help_but_not_behind_the_dashes),
		cmocka_unit_test(writes_help_from_the_table),
		cmocka_unit_test(finds_the_nearest_name),
		cmocka_unit_test(bits_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
