/*
 * Restarts of the HSA runtime. The last hsa_shut_down() frees everything that the runtime has
 * handed out, and resets its tables; the next hsa_init() registers them again.
 */
#pragma once

#include "shared/wire/page.h"

/* Called for the first tool: opens a gate left shut by a thread that left its call by longjmp. */
void restart_begin(void);

/* In a forked child. */
void restart_adopt(void);

/* A known table is registered again, as a later instance. */
void restart_registered(const struct agent_table *table);
