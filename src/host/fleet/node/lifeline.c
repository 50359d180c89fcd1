/*
 * Watches stdin.  Runs on nodes.
 */
#include "host/fleet/node/lifeline.h"

#include "host/core/clock.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

static void lifeline_read(struct lifeline *self)
{
	char bytes[256];
	ssize_t got = read(self->fd, bytes, sizeof(bytes));

	if (got > 0)
		self->is_greeted = true;
	else if (got == 0 || (errno != EINTR && errno != EAGAIN))
		self->has_ended = true;
}

bool lifeline_wait(struct lifeline *self, int other, uint64_t until_ns)
{
	struct pollfd fds[] = { { self->has_ended ? -1 : self->fd, POLLIN, 0 },
				{ other, POLLIN, 0 } };
	uint64_t now = now_ns();
	int wait_ms = now >= until_ns ? 0 : (int)MIN((until_ns - now) / 1000000 + 1, 3600000);

	poll(fds, ARRAY_SIZE(fds), wait_ms);
	if (fds[0].revents)
		lifeline_read(self);
	return fds[1].revents;
}

bool lifeline_is_cut(const struct lifeline *self)
{
	return self->has_ended && self->is_greeted;
}
