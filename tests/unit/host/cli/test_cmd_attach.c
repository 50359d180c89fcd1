/*
 * The options of attach and the lists of tools in them.  They are private to the command, so its
 * source is part of this test.
 */
#include "unit.h"

#include "host/cli/attach/cmd_attach.c"

static struct attach_values values;
static struct err err;

#define PARSE(...) parse((const char *[]){ __VA_ARGS__, NULL })

static int parse(const char **words)
{
	char **argv = (char **)(uintptr_t)words; /* they are put in another order, not written */

	values = (struct attach_values){ .duration_ns = UINT64_MAX };
	memset(&err, 0, sizeof(err));
	return options_parse(attach_options, argv, &values, &err);
}

static void takes_every_option(void **state)
{
	(void)state;
	assert_int_equal(PARSE("4711", "--tool", "a.so:b.so", "--env", "K=V",
			       "--env=L=", "--unload", "--strict", "--force", "--cont", "--json",
			       "--duration", "2s"),
			 1);
	assert_int_equal(values.tools.count, 1);
	assert_int_equal(values.variables.count, 2);
	assert_string_equal(values.variables.items[1], "L=");
	assert_true(values.unload && values.is_strict && values.force && values.resumes);
	assert_true(values.is_json);
	assert_true(values.duration_ns == 2000000000);
}

static void stays_for_ever_unless_told(void **state)
{
	(void)state;
	assert_int_equal(PARSE("4711"), 1);
	assert_true(values.duration_ns == UINT64_MAX);
	assert_false(values.unload || values.is_strict || values.force || values.resumes);
	assert_int_equal(PARSE("4711", "--duration", "0"), 1);
	assert_true(values.duration_ns == 0);
	assert_int_equal(PARSE("4711", "-d", "500"), 1);
	assert_true(values.duration_ns == 500000000000);
}

static void refuses_what_makes_no_sense(void **state)
{
	(void)state;
	assert_true(PARSE("4711", "--duration", "-1") < 0);
	assert_int_equal(err.exit, EXIT_USAGE);
	assert_true(PARSE("4711", "--duration") < 0);
	assert_true(PARSE("4711", "--tool") < 0);
	assert_true(PARSE("4711", "--unloads") < 0);
	assert_int_equal(err.exit, EXIT_USAGE);
}

static void splits_lists_of_tools(void **state)
{
	struct option_list given = { .items = { "a.so:b.so", "c.so,d.so e.so", "::f.so:", "" },
				     .count = 4 };
	struct tool_list list = { .count = 0 };

	(void)state;
	assert_int_equal(split_tools(&given, &list, &err), 0);
	assert_int_equal(list.count, 6);
	assert_string_equal(list.items[0], "a.so");
	assert_string_equal(list.items[1], "b.so");
	assert_string_equal(list.items[4], "e.so");
	assert_string_equal(list.items[5], "f.so");
}

static void refuses_more_tools_than_fit(void **state)
{
	struct option_list given = { .items = { "a:b:c:d:e:f:g:h", "i:j:k:l:m:n:o:p" },
				     .count = 2 };
	struct tool_list list = { .count = 0 };

	(void)state;
	memset(&err, 0, sizeof(err));
	assert_int_equal(split_tools(&given, &list, &err), 0);
	assert_int_equal(list.count, AGENT_TOOLS_MAX);
	list = (struct tool_list){ .count = 0 };
	given.items[given.count++] = "q";
	assert_int_equal(split_tools(&given, &list, &err), -E2BIG);
	assert_int_equal(err.exit, EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_every_option),
		cmocka_unit_test(stays_for_ever_unless_told),
		cmocka_unit_test(refuses_what_makes_no_sense),
		cmocka_unit_test(splits_lists_of_tools),
		cmocka_unit_test(refuses_more_tools_than_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
