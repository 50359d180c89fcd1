/*
 * A HSA runtime that is shut down and starts again: the last hsa_shut_down() takes everything with
 * it that the runtime has handed out, and sets its tables anew; the next hsa_init() registers them
 * again.
 */
#pragma once

#include "shared/wire/page.h"

/* The first tool comes: a thread that left the program's call by longjmp opens nothing any more. */
void restart_begin(void);

/* In a forked child. */
void restart_adopt(void);

/* A table that is known is registered again, as a later instance. */
void restart_registered(const struct agent_table *table);
