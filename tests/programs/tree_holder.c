/*
 * A program that holds a family of processes by the library, until its input ends, and looks what
 * the library's threads do to it: children that its wait could reap, signals that they took.
 * usage: tree_holder PID
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limpet/limpet.h>

static volatile sig_atomic_t signals, elsewhere;

static void on_signal(int number)
{
	(void)number;
	signals++;
	elsewhere += gettid() != getpid();
}

static int watch(void)
{
	struct pollfd input = { STDIN_FILENO, POLLIN, 0 };
	int strays = 0;

	while (poll(&input, 1, 5) <= 0)
		strays += waitpid(-1, NULL, WNOHANG) >= 0;
	return strays;
}

static int hold(struct limpet *target, struct limpet_error *error)
{
	struct limpet_options options = LIMPET_OPTIONS_INIT;
	struct limpet_report report = LIMPET_REPORT_INIT;
	int r, strays;

	options.flags = LIMPET_CHILDREN;
	r = limpet_attach(target, &options, &report, error);
	if (r)
		return r;
	printf("ready: %zu processes, %zu skipped\n", report.processes, report.skipped);
	fflush(stdout);
	strays = watch();
	r = limpet_detach(target, 0, error);
	printf("left: %d stray children, %d signal of which %d elsewhere\n", strays, (int)signals,
	       (int)elsewhere);
	return r;
}

int main(int argc, char **argv)
{
	struct limpet_error error = LIMPET_ERROR_INIT;
	struct limpet *target = argc == 2 ? limpet_open(atoi(argv[1]), &error) : NULL;
	int r;

	signal(SIGUSR1, on_signal);
	r = target ? hold(target, &error) : -1;
	limpet_close(target);
	if (r)
		puts(error.what);
	return r ? 1 : 0;
}
