/*
 * Scratch memory: HSA calls tools through a table of its own when kernels need more of it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Stores limpet's functions into empty entries, or removes them; functions of another tool stay,
 * and their events are not seen. The caller holds the table's library, and has made it writable. */
void scratch_change(uint64_t *entries, unsigned count, bool is_wanted);
/* True if an entry leads to limpet. */
bool scratch_is_seen(void);
