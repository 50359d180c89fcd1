/*
 * Is a thread of limpet's blocked by another module of the process?
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Is the thread in a wait whose word lies in another module, as the loader's lock does?  0: it has
 * not run yet, no.  Where it cannot be seen, yes. */
bool blocked_by_others(int32_t tid);
