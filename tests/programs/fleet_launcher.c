/*
 * Launchers whose list of ranks for debuggers has nothing in it.
 *
 *   fleet_launcher          as Open MPI's mpirun before its ranks have called MPI_Init
 *   fleet_launcher hydra    as a hydra that has such a list: with a proxy
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* As debuggers know them. */
__attribute__((visibility("default"))) void *MPIR_proctable;
__attribute__((visibility("default"))) int MPIR_proctable_size;

static void rest(void)
{
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strncmp(argv[0], "hydra_pmi_proxy", 15))
		rest();
	if (argc > 1 && !fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/proc/self/exe", "hydra_pmi_proxy", "--control-port", "localhost:1", NULL);
		_exit(1);
	}
	puts("ready");
	fflush(stdout);
	rest();
}
