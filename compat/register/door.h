/*
 * The target's side of the cooperative door (shared/wire/door.h).
 */
#pragma once

#include "target/runtime/identity.h"

/* Begins to listen; visitors may come before anybody serves them. */
void door_prepare(void);

/* Waits a while for one visitor and serves him to the end.  False: the thread must end, since it
 * has more rights than the program now, or the program is about to change its own. */
bool door_serve_next(struct identity_watch *identity);

/* Has door_serve_next() come back soon, on another thread of ours. */
void door_wake(void);

/* Closes everything; also what a child of fork has of its parent's door.  Async-signal-safe. */
void door_forget(void);
