/*
 * Is a thread of limpet's blocked by another module of the process?
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Is the thread in a wait whose futex is in another module, as the loader's lock is?  0: not run
 * yet, no.  If it cannot be read, yes. */
bool blocked_by_others(int32_t tid);
