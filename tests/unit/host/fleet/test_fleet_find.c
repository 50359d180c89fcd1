/*
 * What launchers tell of their ranks: tables and command lines.
 */
#include "unit.h"

#include "host/core/cleanup.h"
#include "host/fleet/engine/mpirun.h"
#include "host/fleet/find/job_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char table[] = "PID      JOBID    STEPID   LOCALID GLOBALID\n"
			    "63       2        batch    0       0       \n"
			    "66       2        batch    -       -       \n"
			    "81       2        0        0       4       \n"
			    "82       2        0        1       5       \n"
			    "88       2        0        -       -       \n"
			    "99       2        3        0       0       \n"
			    "-1       2        0        0       9       \n"
			    "7 2 0 1\n";

static size_t tasks(const char *wanted, const char *unwanted, struct known_rank **ret)
{
	struct slurm_steps steps = { wanted, unwanted };
	size_t count = 0;

	assert_int_equal(slurm_pids_parse(table, &steps, ret, &count), 0);
	return count;
}

static void tasks_of_slurm_are_those_with_a_number(void **state)
{
	struct known_rank *ranks = NULL;

	(void)state;
	assert_int_equal(tasks("", "3", &ranks), 2);
	assert_int_equal(ranks[0].pid, 81);
	assert_int_equal(ranks[0].rank, 4);
	assert_int_equal(ranks[1].pid, 82);
	free(ranks);
	assert_int_equal(tasks("3", "", &ranks), 1);
	free(ranks);
	assert_int_equal(tasks("9", "", &ranks), 0);
	free(ranks);
}

#define WORDS(text) (text), sizeof(text)

static void proxies_of_hydra_name_hosts_and_port(void **state)
{
	struct hydra hydra = { 0 };

	(void)state;
	assert_int_equal(
		hydra_take(&hydra, WORDS("/usr/bin/ssh\0-x\0n1\0\"/usr/bin/hydra_pmi_proxy\"\0"
					 "--control-port\0login:33715\0--rmk\0user")),
		0);
	assert_int_equal(
		hydra_take(&hydra, WORDS("/usr/bin/hydra_pmi_proxy\0--control-port\0login:33715")),
		0);
	assert_int_equal(hydra_take(&hydra, WORDS("ssh\0n9\0uptime")), 0);
	assert_int_equal(hydra_take(&hydra, WORDS("ssh\0-oProxyCommand=x\0hydra_pmi_proxy")), 0);
	assert_int_equal(hydra.hosts.count, 1);
	assert_string_equal(hydra.hosts.names[0], "n1");
	assert_true(hydra.has_local);
	assert_string_equal(hydra.key, "login:33715");
	hydra_done(&hydra);
}

static void a_rank_is_a_number_and_nothing_else(void **state)
{
	char text[] = "A=1\0RANK=7\0WORLD_SIZE=8\0PMI_RANK=x\0PMIX_RANK=4294967295\0XRANK=3";
	struct variables variables = { text, sizeof(text) - 1 };
	const struct rank_variable rank = { "RANK", "WORLD_SIZE" }, bad = { "PMI_RANK", NULL },
				   huge = { "PMIX_RANK", NULL };
	uint32_t number, size;

	(void)state;
	assert_true(rank_variable_read(&variables, &rank, &number, &size));
	assert_int_equal(number, 7);
	assert_int_equal(size, 8);
	assert_false(rank_variable_read(&variables, &bad, &number, &size));
	assert_false(rank_variable_read(&variables, &huge, &number, &size));
}

static void shells_are_wrappers_and_daemons_are_launchers(void **state)
{
	(void)state;
	assert_true(program_is_wrapper("bash") && program_is_wrapper("timeout"));
	assert_false(program_is_wrapper("python3") || program_is_wrapper("bashful"));
	assert_true(program_is_launcher("orted", false) &&
		    program_is_launcher("hydra_pmi_proxy", false));
	assert_false(program_is_launcher("hydra_pmi_proxy", true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_of_slurm_are_those_with_a_number),
		cmocka_unit_test(proxies_of_hydra_name_hosts_and_port),
		cmocka_unit_test(a_rank_is_a_number_and_nothing_else),
		cmocka_unit_test(shells_are_wrappers_and_daemons_are_launchers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
