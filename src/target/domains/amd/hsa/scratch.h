/*
 * Scratch memory: HSA tells a tool when kernels need more of it, through a table of its own.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* Puts our functions into those slots that are empty; what another tool has put there stays, and is
 * not seen.  False when none is ours. */
bool scratch_hook(uint64_t *slots, unsigned count);
