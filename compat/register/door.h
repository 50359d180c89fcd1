/*
 * The target's side of the cooperative door (shared/wire/door.h).
 */
#pragma once

/* Waits for one visitor and serves him to the end. */
void door_serve_next(void);

/* In a child of fork: closes what belongs to the parent's door.  Async-signal-safe. */
void door_forget(void);
