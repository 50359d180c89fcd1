/*
 * Stepping aside: the agent leaves before the program changes what it may do, see confine.h.  The
 * thread that makes such a call waits for that; the watching thread tells the agent.
 */
#pragma once

#include <stdbool.h>

/* The calling process is the one that is meant, not a child that it forks. */
void aside_begin(void);
void aside_end(void);

/* On a thread of the program's, before the call: returns when none of ours is left, or after two
 * seconds. */
void aside_step(void);

/* May threads of the program's make system calls of ours?  Not where filters of one of them may
 * kill for it: none was compared yet, or one has not waited for us to leave. */
bool aside_may_call(void);

/* On the watching thread, whenever it looks around. */
void aside_look(void);
