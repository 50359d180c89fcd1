/*
 * Scratch memory of devices, as HSA's table for tools tells.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Puts our functions into the table, or takes them out again.  While the table cannot go away. */
void scratch_change(uint64_t *slots, unsigned count, bool is_wanted);
