/*
 * The target's side of the cooperative door (shared/wire/door.h).
 */
#pragma once

/* Begins to listen; visitors may come before anybody serves them. */
void door_prepare(void);

/* Waits so long for one visitor, and serves him to the end.  False: the thread must end, since the
 * program is about to change its rights. */
_Bool door_serve_next(unsigned timeout_ms);

/* In a child of fork: closes what belongs to the parent's door.  Async-signal-safe. */
void door_forget(void);
