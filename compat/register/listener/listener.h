/*
 * The target's side of the cooperative listener (shared/wire/listener.h).
 */
#pragma once

#include "target/runtime/identity.h"

/* Begins to listen; peers may connect before the helper serves them. */
void listener_prepare(void);

/* Waits a while for one peer and serves it to the end.  False: the thread must end, since it
 * has more rights than the program now, or the program is about to change its own. */
bool listener_serve_next(struct identity_watch *identity);

/* Makes listener_serve_next() return soon on the helper thread. */
void listener_wake(void);

/* Closes everything; also a fork child's copy of its parent's listener.  Async-signal-safe. */
void listener_forget(void);
