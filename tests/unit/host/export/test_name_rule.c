/*
 * Names of output files from patterns.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "host/export/amd/output/name_rule.h"

static const char *nothing(void *context, const char *name)
{
	(void)context;
	(void)name;
	return NULL;
}

/* Pairs of names and values; ends with NULL. */
static const char *among(void *context, const char *name)
{
	const char *const *pairs = context;

	for (; *pairs; pairs += 2)
		if (strcmp(*pairs, name) == 0)
			return pairs[1];
	return NULL;
}

static struct name_facts usual(const char *const *pairs)
{
	return (struct name_facts){
		.hostname = "node7",
		.folder = "/home/you",
		.command = "./bin/app -n 3 /data/in.txt",
		.pid = 4711,
		.parent = 4000,
		.group = 4001,
		.session = 3999,
		.siblings = 2,
		.launched_s = 86400 * 365,
		.variable = pairs ? among : nothing,
		.context = (void *)(uintptr_t)pairs,
	};
}

static void becomes(const char *pattern, const char *const *pairs, const char *expected)
{
	struct name_facts facts = usual(pairs);
	char *name = NULL;

	assert_int_equal(name_rule_expand(pattern, &facts, &name), 0);
	assert_string_equal(name, expected);
	free(name);
}

static void replaces_keys_in_both_forms(void **state)
{
	(void)state;
	becomes("%hostname%/%pid%", NULL, "node7/4711");
	becomes("{hostname}/{pid}-{ppid}", NULL, "node7/4711-4000");
	becomes("%pgid%.%psid%.%psize%", NULL, "4001.3999.2");
	becomes("%h-%p-%j-%r-%s", NULL, "node7-4711-0-0-1");
	becomes("%cwd%/out", NULL, "/home/you/out");
}

static void leaves_everything_else_alone(void **state)
{
	(void)state;
	becomes("", NULL, "");
	becomes("plain/name", NULL, "plain/name");
	becomes("100%", NULL, "100%");
	becomes("%unknown%", NULL, "%unknown%");
	becomes("{pid", NULL, "{pid");
	becomes("$env{lower}", NULL, "$env{lower}");
	becomes("%env{X", NULL, "%env{X");
}

static void tells_the_command_in_words(void **state)
{
	(void)state;
	becomes("%tag%", NULL, "app");
	becomes("%argv%", NULL, "bin_app_-n_3_data_in.txt");
	becomes("%args%", NULL, "-n_3_data_in.txt");
	becomes("%argt%", NULL, "app-n_3_data_in.txt");
	becomes("%arg0%:%arg3%", NULL, "bin_app:data_in.txt");
	becomes("a%arg9%/b", NULL, "ab");
	becomes("%arg99999999999999999999%x", NULL, "x");
}

static void reads_ranks_from_the_environment(void **state)
{
	static const char *const slurm[] = {
		"SLURM_PROCID", "3", "OMPI_COMM_WORLD_RANK", "5", "SLURM_JOB_ID", "77", NULL
	};
	static const char *const open_mpi[] = { "OMPI_COMM_WORLD_RANK", "5", "OMPI_COMM_WORLD_SIZE",
						"8", NULL };

	(void)state;
	becomes("%rank%/%size%/%job%/%nid%", slurm, "3/1/77/3");
	becomes("%rank%/%size%/%job%/%nid%", open_mpi, "5/8/0/5");
	becomes("%rank%/%size%/%job%/%nid%", NULL, "0/1/0/4711");
}

static void reads_variables_by_name(void **state)
{
	static const char *const pairs[] = { "USER", "you",   "PATHS", " /a/b c", "UP",
					     "..",   "AGAIN", "%pid%", NULL };

	(void)state;
	becomes("%env{USER}%-$env{USER}-%q{USER}-$ENV{USER}", pairs, "you-you-you-you");
	becomes("[%q{PATHS}]", pairs, "[a_b_c]");
	becomes("%q{UP}/x", pairs, "_/x");
	becomes("%q{NONE}x", pairs, "x");
	becomes("%q{AGAIN}", pairs, "%pid%");
}

static void dates_have_formats(void **state)
{
	static const char *const pairs[] = { "ROCPROF_DATE_FORMAT", "%Y", NULL };

	(void)state;
	setenv("TZ", "UTC", 1);
	becomes("%launch_date%", NULL, "1971-01-01");
	becomes("%launch_time%", NULL, "1971-01-01_00.00");
	becomes("%launch_date%", pairs, "1971");
}

static void lists_the_variables_that_a_pattern_names(void **state)
{
	const char *at = "%hostname%/%q{A}_%env{B_2}%_$env{C}";
	char name[16];

	(void)state;
	at = name_rule_next_variable(at, name, sizeof(name));
	assert_string_equal(name, "A");
	at = name_rule_next_variable(at, name, sizeof(name));
	assert_string_equal(name, "B_2");
	at = name_rule_next_variable(at, name, sizeof(name));
	assert_string_equal(name, "C");
	assert_null(name_rule_next_variable(at, name, sizeof(name)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaces_keys_in_both_forms),
		cmocka_unit_test(leaves_everything_else_alone),
		cmocka_unit_test(tells_the_command_in_words),
		cmocka_unit_test(reads_ranks_from_the_environment),
		cmocka_unit_test(reads_variables_by_name),
		cmocka_unit_test(dates_have_formats),
		cmocka_unit_test(lists_the_variables_that_a_pattern_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
