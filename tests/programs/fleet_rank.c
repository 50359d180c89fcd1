/*
 * A rank of a job that hangs: the odd one waits for something else than the others.
 *
 *   fleet_rank ODD              ranks by any variable; rank ODD is in stuck_on_lock()
 *   fleet_rank ODD spin         the others compute
 *   fleet_rank ODD leave        another thread computes; the first one ends at SIGUSR1
 *   fleet_rank ODD twice        waits twice in one function, and rank ODD in the second wait
 *   fleet_rank ODD steps        the others go from one call to the next
 *   fleet_rank ODD late RANK    sets its variable RANK by itself, when it runs
 *
 * With ENDS_WITH_PARENT it does: a test that is killed leaves no ranks.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile unsigned long turns;

__attribute__((noinline)) static void stuck_on_lock(void)
{
	for (;;)
		pause();
}

__attribute__((noinline)) static void reduce_all(void)
{
	for (;;)
		pause();
}

__attribute__((noinline)) static void compute(void)
{
	for (;;)
		turns++;
}

static volatile int passes;

/* Waits, but for as often as it may pass. */
__attribute__((noinline)) static void wait_for_all(void)
{
	while (passes <= 0)
		pause();
	passes--;
}

/* Two waits of one function, as two all_reduce of one training step. */
__attribute__((noinline)) static void step_twice(int is_second)
{
	passes = is_second;
	wait_for_all();
	turns++;
	wait_for_all();
	turns++;
}

__attribute__((noinline)) static void doze(void)
{
	usleep(40000);
	turns++;
}

/* From call to call, at lines of its own. */
__attribute__((noinline)) static void take_steps(void)
{
	for (;;) {
		doze();
		doze();
		doze();
		doze();
		doze();
	}
}

static void *compute_there(void *unused)
{
	compute();
	return unused;
}

static void leave(const sigset_t *usr1)
{
	int number;

	sigwait(usr1, &number);
	pthread_exit(NULL);
}

static int rank_of(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK",
					     "SLURM_PROCID", "MY_RANK" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]))
			return atoi(getenv(names[i]));
	return -1;
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "";
	pthread_t thread;
	sigset_t usr1;

	if (getenv("ENDS_WITH_PARENT"))
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(way, "late") && argc > 3)
		setenv("RANK", argv[3], 1);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	if (!strcmp(way, "leave") && (pthread_sigmask(SIG_BLOCK, &usr1, NULL) ||
				      pthread_create(&thread, NULL, compute_there, NULL)))
		return 1;
	puts("ready");
	fflush(stdout);
	if (!strcmp(way, "twice"))
		step_twice(rank_of() == atoi(argv[1]));
	if (!strcmp(way, "steps"))
		take_steps();
	if (argc > 1 && rank_of() == atoi(argv[1]))
		stuck_on_lock();
	if (!strcmp(way, "leave"))
		leave(&usr1);
	if (!strcmp(way, "spin"))
		compute();
	reduce_all();
	return 0;
}
