/*
 * The target's side of the cooperative door (shared/wire/door.h).
 */
#pragma once

/* Begins to listen; visitors may come before anybody serves them. */
void door_prepare(void);

/* Waits for one visitor and serves him to the end. */
void door_serve_next(void);

/* In a child of fork: closes what belongs to the parent's door.  Async-signal-safe. */
void door_forget(void);
