/*
 * Hooks that notice the calls by which a program changes what it may do, where nothing is traced:
 * those of the agent and those of the register library, which both provide what departure.h and
 * rings.h declare.  One at a time of those who change something here.
 */
#pragma once

#include <stdbool.h>

/* On a thread of ours that may wait for locks of the loader's, and on another one that it makes; 0
 * when they are in. */
int notices_start(void);
/* Takes them out; also those that a forked child has of its parent's. */
void notices_stop(void);

/* Are some in? */
bool notices_are_in(void);

/* In a forked child whose parent was just making them, or taking them out. */
void notices_abandon(void);

/* How many threads watch. */
unsigned notices_threads(void);

/* After they were taken out: can a thread of the program's still come here, or come back? */
bool notices_have_stayed(void);
bool notices_are_passed(void);
