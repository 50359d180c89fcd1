/*
 * Runs inside the target on the helper thread.
 */
#include "compat/register/listener/glance.h"

#include "compat/register/listener/guard.h"

#include <errno.h>
#include <time.h>

bool glance_says_end(struct identity_watch *identity)
{
	return guard_is_alarmed() || identity_exceeds(identity);
}

int glance_poll(struct pollfd *waits, size_t count, unsigned limit_ms,
		struct identity_watch *identity)
{
	struct timespec glance = { 0, IDENTITY_GLANCE_MS * 1000000L };
	int r = 0;

	for (unsigned ms = 0; !r && ms < limit_ms; ms += IDENTITY_GLANCE_MS) {
		r = ppoll(waits, count, &glance, NULL);
		if (r < 0 && errno == EINTR)
			r = 0;
		if (glance_says_end(identity))
			return -1;
	}
	return r;
}
