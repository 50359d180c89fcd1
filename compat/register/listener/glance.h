/*
 * Waits for a peer, on the helper thread: whatever the peer does, the thread checks at its usual
 * interval whether it may still run.
 */
#pragma once

#include "target/runtime/identity.h"

#include <poll.h>
#include <stddef.h>

/* Has the thread more rights than the program, or does the program wait for its end? */
bool glance_says_end(struct identity_watch *identity);

/* As poll(); -1 also when the thread must end. */
int glance_poll(struct pollfd *waits, size_t count, unsigned limit_ms,
		struct identity_watch *identity);
