/*
 * Forks of the program.  A child closes what is noted as ours (struct descriptor), so forks wait
 * for a moment while a descriptor has been made and is not noted yet.
 */
#pragma once

/* Each child of fork calls it.  Async-signal-safe, as the child of a threaded program must be. */
void forks_watch(void (*in_child)(void));

/* Around making and noting; short, without code of others. */
void forks_hold(void);
void forks_release(void);
