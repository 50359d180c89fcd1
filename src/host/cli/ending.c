/*
 * Enter stops only when a newline is really read: the end of stdin is not Enter, so that limpet
 * works in scripts and under cron.
 */
#include "host/cli/ending.h"

#include "host/core/clock.h"
#include "host/core/quiet_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define GIVE_UP_S 1 /* after the second signal */

static void on_pipe(int signal)
{
	(void)signal;
}

/* Not ignored, which programs that we start would inherit. */
void ending_outlive_pipes(void)
{
	if (signal(SIGPIPE, on_pipe) == SIG_IGN)
		signal(SIGPIPE, SIG_IGN);
}

static sigset_t ending_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

static int take_next(int fd)
{
	const uint64_t one = 1;
	sigset_t set = ending_signals();
	int number;

	while (sigwait(&set, &number))
		;
	(void)!write(fd, &one, sizeof(one));
	return number;
}

/* As if it had never been waited for. */
static void end_by(int number)
{
	sigset_t set = ending_signals();

	signal(number, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
}

/*
 * A thread of its own: the one that works may be held up, by a target or a disk, and would look for
 * signals too late.  The first signal asks it to leave.  The second gives it a moment to stop what
 * it does, then ends limpet wherever it is, which no target minds: its agent sees that and rests.
 */
static void *watch_signals(void *argument)
{
	int fd = (int)(intptr_t)argument, number;

	take_next(fd);
	number = take_next(fd);
	nanosleep(&(struct timespec){ GIVE_UP_S, 0 }, NULL);
	end_by(number);
	return NULL;
}

int ending_prepare(struct err *err)
{
	sigset_t set = ending_signals();
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	/* The watcher has its own: the caller may close what it gets. */
	int own = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0), r;
	pthread_t thread;

	if (own < 0)
		return err_set(err, -errno, "eventfd: %s", strerror(errno));
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGTTIN, SIG_IGN); /* in the background reading stdin fails instead of stopping us */
	r = quiet_thread(&thread, watch_signals, (void *)(intptr_t)own);
	return r ? err_set(err, r, "watch for signals: %s", strerror(-r)) : fd;
}

/* 1: a newline came; 0: other input; -1: no more input. */
static int read_input(void)
{
	char text[256];
	ssize_t r = read(STDIN_FILENO, text, sizeof(text));

	if (r <= 0)
		return -1;
	return memchr(text, '\n', (size_t)r) != NULL;
}

/* Taken, so that the next wait sees only the next one. */
static void take_signal(int signals)
{
	uint64_t taken;

	(void)!read(signals, &taken, sizeof(taken));
}

static int poll_limit_ms(uint64_t begin_ns, uint64_t duration_ns)
{
	uint64_t gone_ns = now_ns() - begin_ns;

	if (duration_ns == UINT64_MAX)
		return -1;
	return gone_ns >= duration_ns
		       ? 0
		       : (int)MIN((duration_ns - gone_ns + 999999) / 1000000, 1000000ull);
}

enum ending ending_wait(int signals, int pidfd, uint64_t duration_ns)
{
	struct pollfd wait[3] = { { signals, POLLIN, 0 },
				  { pidfd, POLLIN, 0 },
				  { STDIN_FILENO, POLLIN, 0 } };
	uint64_t begin_ns = now_ns();

	for (;;) {
		int input, r = poll(wait, 3, poll_limit_ms(begin_ns, duration_ns));

		if (r > 0 && wait[0].revents) {
			take_signal(signals);
			return ENDING_SIGNAL;
		}
		if (r > 0 && wait[1].revents)
			return ENDING_EXIT;
		if (now_ns() - begin_ns >= duration_ns)
			return ENDING_DURATION;
		if (r <= 0 || !wait[2].revents)
			continue;
		input = read_input();
		if (input > 0)
			return ENDING_ENTER;
		if (input < 0)
			wait[2].fd = -1;
	}
}

static const char *const names[] = {
	[ENDING_ENTER] = "enter",
	[ENDING_SIGNAL] = "signal",
	[ENDING_DURATION] = "duration",
	[ENDING_EXIT] = "exit",
};

const char *ending_name(enum ending ending)
{
	return names[ending];
}
