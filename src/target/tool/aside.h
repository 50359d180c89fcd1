/*
 * Lets the agent detach before the target changes its rights, see confine.h. The thread that makes
 * such a call waits for that; the watching thread makes the agent detach.
 */
#pragma once

#include <stdbool.h>

/* Applies to the calling process, not to children that it forks. */
void aside_begin(void);
void aside_end(void);

/* On an application thread, before the call: returns when limpet's threads have ended, or after 2
 * s. */
void aside_step(void);

/* True if application threads may make limpet's system calls. False if a filter might kill a thread
 * for one: filters were not compared yet, or a thread did not wait for the detach. */
bool aside_may_call(void);

/* On the watching thread, whenever it polls. */
void aside_look(void);
