/*
 * Waits while a program that limpet started runs.
 */
#include "host/attach/launch/launched.h"

#include "host/core/clock.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LOOK_NS 200000

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Blocks the signals before the child exists, so that none can be lost. */
static int block_signals(sigset_t *ret_before, struct err *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaddset(&set, passed_on[i]);
	sigprocmask(SIG_BLOCK, &set, ret_before);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? err_set(err, -errno, "signalfd: %s", strerror(errno)) : fd;
}

/* Passes on a signal to limpet alone: the kernel sends a terminal's signals to the whole process
 * group. */
static void pass_on(const struct launched *self)
{
	struct signalfd_siginfo signal;

	while (read(self->signals, &signal, sizeof(signal)) == sizeof(signal))
		if (signal.ssi_code != SI_KERNEL && signal.ssi_pid != (uint32_t)self->launch.pid)
			kill(self->launch.pid, (int)signal.ssi_signo);
}

enum ending launched_watch(struct launched *self, int socket, uint64_t time_ns)
{
	struct pollfd wait[] = { { self->signals, POLLIN, 0 },
				 { self->launch.pidfd, POLLIN, 0 },
				 { socket, POLLRDHUP, 0 } };
	struct timespec limit = { (time_t)(time_ns / 1000000000u), (long)(time_ns % 1000000000u) };
	int r = ppoll(wait, ARRAY_SIZE(wait), &limit, NULL);

	if (r > 0 && wait[0].revents)
		pass_on(self);
	return r > 0 && wait[1].revents ? ENDING_EXIT : ENDING_DURATION;
}

enum ending launched_wait(struct launched *self, uint64_t time_ns)
{
	uint64_t begin_ns = now_ns(), gone_ns = 0;
	enum ending ending = ENDING_DURATION;

	do {
		ending = launched_watch(self, -1, MIN(time_ns - gone_ns, 1000000000ull));
		gone_ns = now_ns() - begin_ns;
	} while (ending == ENDING_DURATION && gone_ns < time_ns);
	return ending;
}

/* Loading the program's libraries has no time limit. */
static int await_doorstep(struct launched *self, struct err *err)
{
	int r;

	while (!(r = launch_poll(&self->launch, err)))
		launched_watch(self, -1, LOOK_NS);
	return r < 0 ? r : 0;
}

static int launched_prepare(struct launched *self, bool loads_library, struct err *err)
{
	int r = await_doorstep(self, err);

	if (r || !loads_library)
		return r;
	r = launch_prepare_allocator(&self->launch, err);
	return r ? r : await_doorstep(self, err);
}

int launched_start(struct launched *ret, char *const argv[], bool loads_library, struct err *err)
{
	sigset_t before;
	int r;

	*ret = (struct launched){ .signals = block_signals(&before, err) };
	if (ret->signals < 0)
		return err->code;
	ending_outlive_pipes(); /* the program often writes into the same pipe */
	r = launch_start(&ret->launch, argv, &before, !loads_library, err);
	if (!r) {
		r = launched_prepare(ret, loads_library, err);
		if (!r && ret->launch.has_passed_by)
			print(stderr, "warning: a library of the program executed another program "
				      "before main(): its first calls are missing\n");
		if (r)
			launch_done(&ret->launch);
	}
	if (r)
		close(ret->signals);
	return r;
}

void launched_finish(struct launched *self)
{
	if (self->launch.is_let_go)
		while (launched_wait(self, UINT64_MAX) != ENDING_EXIT)
			;
	launch_has_ended(&self->launch, self->launch.is_let_go);
	launch_done(&self->launch);
	close(self->signals);
}
