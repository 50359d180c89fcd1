/*
 * The target's side of the cooperative door (shared/wire/door.h).
 */
#pragma once

#include <stdbool.h>

/* Begins to listen; visitors may come before anybody serves them. */
void door_prepare(void);

/* Waits for one visitor and serves him to the end.  False: the thread has other rights than the
 * program now, and must not stay. */
bool door_serve_next(void);

/* Closes everything; also what a child of fork has of its parent's door.  Async-signal-safe. */
void door_forget(void);
