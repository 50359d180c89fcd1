/*
 * Ends the helper thread before the program changes its rights: hooks on libc's functions for that,
 * as the agent has them (target/tool/notices.h).
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/runtime/identity.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* On the helper thread.  If hooks are not possible, the thread notices changes by polling
 * (identity.h).  `wake` makes the thread return soon from a wait; called on application threads. */
void guard_begin(const struct boot_libc *libc, void (*wake)(void));

/* Must the thread end? */
bool guard_is_alarmed(void);

/* While an agent runs on the thread, only the agent's own hooks guard it. */
void guard_rest(void);
void guard_go_on(void);

/* The last that the thread does. */
void guard_end(void);

/* Has the helper thread more rights than the program, or does the program wait for its end? */
bool guard_says_end(struct identity_watch *identity);

/* Waits for a peer, as poll(); -1 also when the thread must end, which it checks at its usual
 * interval, whatever the peer does. */
int guard_poll(struct pollfd *waits, size_t count, unsigned limit_ms,
	       struct identity_watch *identity);
