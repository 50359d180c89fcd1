/*
 * Programs with one thread, for which libc works without locks: each says at every turn, as the
 * number of signals that it has received, whether it still does.  On SIGUSR1 it does what it is
 * named after.
 */
#define _GNU_SOURCE
#include "filter.h"

#include <signal.h>
#include <sys/single_threaded.h>

#define OTHER_USER 65534

static volatile sig_atomic_t is_told;

static const struct rule harmless[] = { { SYS_reboot, ACTION_KILL }, END };
static const struct rules filter = { ACTION_ALLOW, harmless };

static void note_signal(int number)
{
	(void)number;
	is_told = true;
}

static void turn_for_ever(void (*act)(void))
{
	struct sigaction action = { .sa_handler = note_signal, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
	workload_ready();
	for (;; workload_turn()) {
		sleep_ns(NS_PER_MS);
		stats->signals_received = *(volatile char *)&__libc_single_threaded;
		if (!is_told)
			continue;
		is_told = false;
		act();
		stats->signals_sent++;
	}
}

static void do_nothing(void)
{
}

/* Has the filter from the beginning. */
static void run_filtered(const void *unused)
{
	(void)unused;
	if (filter_install_with(&filter, 0) < 0)
		workload_skip("seccomp");
	turn_for_ever(do_nothing);
}

static void install_filter(void)
{
	if (filter_install_with(&filter, 0) < 0)
		workload_corrupt("seccomp");
}

static void run_filter(const void *unused)
{
	(void)unused;
	turn_for_ever(install_filter);
}

static void change_user(void)
{
	if (setresuid(OTHER_USER, OTHER_USER, OTHER_USER))
		workload_corrupt("setresuid");
}

static void run_user(const void *unused)
{
	(void)unused;
	if (geteuid())
		workload_skip("only root may become somebody else");
	turn_for_ever(change_user);
}

const struct workload workloads[] = {
	{ "filtered", run_filtered, NULL },
	{ "filter", run_filter, NULL },
	{ "user", run_user, NULL },
	{ NULL, NULL, NULL },
};
