/*
 * Hooks the calls by which a target changes its rights, where nothing is traced: for the agent and
 * the register library, which both provide what departure.h and rings.h declare. One thread at a
 * time changes hooks.
 */
#pragma once

#include <stdbool.h>

/* On a thread of limpet's that may wait for the loader's locks, and on another one that it creates;
 * 0 once the hooks are installed. */
int notices_start(void);
/* Removes the hooks; also those that a forked child has from its parent. */
void notices_stop(void);

/* True if hooks are installed. */
bool notices_are_in(void);

/* In a forked child whose parent was just installing or removing hooks. */
void notices_abandon(void);

/* Number of watching threads. */
unsigned notices_threads(void);

/* After removal: true if an application thread may still call a hook; or may return into one. */
bool notices_have_stayed(void);
bool notices_are_passed(void);
