/*
 * Launchers with a list of ranks for debuggers, most of them with nothing in it.
 *
 *   fleet_launcher          as Open MPI's mpirun before its ranks have called MPI_Init
 *   fleet_launcher hydra    as a hydra that has such a list: with a proxy
 *   fleet_launcher table HOST PID...    its list names these processes on that host
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define RANKS_MAX 16

struct process_description {
	const char *host_name, *executable_name;
	int pid;
};

static struct process_description ranks[RANKS_MAX];

/* As debuggers know them. */
__attribute__((visibility("default"))) void *MPIR_proctable;
__attribute__((visibility("default"))) int MPIR_proctable_size;

static void rest(void)
{
	for (;;)
		pause();
}

static void table_fill(int count, char **pids, const char *host)
{
	for (int i = 0; i < count && i < RANKS_MAX; i++) {
		ranks[i] = (struct process_description){ host, "program", atoi(pids[i]) };
		MPIR_proctable_size = i + 1;
	}
	MPIR_proctable = ranks;
}

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strncmp(argv[0], "hydra_pmi_proxy", 15))
		rest();
	if (argc > 3 && !strcmp(argv[1], "table"))
		table_fill(argc - 3, argv + 3, argv[2]);
	else if (argc > 1 && !fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/proc/self/exe", "hydra_pmi_proxy", "--control-port", "localhost:1", NULL);
		_exit(1);
	}
	puts("ready");
	fflush(stdout);
	rest();
}
