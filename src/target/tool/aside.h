/*
 * Stepping aside: the agent leaves before the program changes what it may do, see confine.h.  The
 * thread that makes such a call waits for that; the watching thread tells the agent.
 */
#pragma once

/* The calling process is the one that is meant, not a child that it forks. */
void aside_begin(void);
void aside_end(void);

/* On a thread of the program's, before the call: returns when none of ours is left, or after half
 * a second. */
void aside_step(void);

/* On the watching thread, whenever it looks around. */
void aside_look(void);
