/*
 * Enter stops only when a newline is really read: the end of stdin is not Enter, so that limpet
 * works in scripts and under cron.
 */
#include "host/core/self/ending.h"

#include "host/core/clock.h"
#include "host/core/self/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void on_pipe(int signal)
{
	(void)signal;
}

/* Handled, not ignored: programs that limpet starts would inherit that. */
void ending_outlive_pipes(void)
{
	if (signal(SIGPIPE, on_pipe) == SIG_IGN)
		signal(SIGPIPE, SIG_IGN);
}

int ending_prepare(struct err *err)
{
	signal(SIGTTIN, SIG_IGN); /* background reads of stdin fail then */
	return interrupt_watch(/* before_end */ NULL, err);
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

enum ending ending_wait_beside(int signals, int pidfd, int socket, uint64_t duration_ns)
{
	struct pollfd wait[4] = { { signals, POLLIN, 0 },
				  { pidfd, POLLIN, 0 },
				  { STDIN_FILENO, POLLIN, 0 },
				  { socket, POLLRDHUP, 0 } };
	uint64_t begin_ns = now_ns();
	char input[256];
	ssize_t size;

	for (;;) {
		int r = poll(wait, 4, poll_limit_ms(begin_ns, duration_ns));

		/* Consumed, so that the next wait returns for the next one only. */
		if (r > 0 && wait[0].revents && interrupt_consume(signals))
			return ENDING_SIGNAL;
		if (r > 0 && wait[1].revents)
			return ENDING_EXIT;
		if (r > 0 && wait[3].revents)
			return ENDING_LEFT;
		if (now_ns() - begin_ns >= duration_ns)
			return ENDING_DURATION;
		if (r <= 0 || !wait[2].revents)
			continue;
		size = read(STDIN_FILENO, input, sizeof(input));
		if (size > 0 && memchr(input, '\n', (size_t)size))
			return ENDING_ENTER;
		if (size <= 0)
			wait[2].fd = -1;
	}
}

const char *ending_name(enum ending ending)
{
	static const char *const names[] = {
		[ENDING_ENTER] = "enter",       [ENDING_SIGNAL] = "signal",
		[ENDING_DURATION] = "duration", [ENDING_EXIT] = "exit",
		[ENDING_LEFT] = "identity",
	};

	return names[ending];
}
