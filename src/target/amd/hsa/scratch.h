/*
 * Scratch memory of devices, reported through HSA's table for tools.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Stores limpet's functions in the table, or removes them. The caller holds the table's library. */
void scratch_change(uint64_t *slots, unsigned count, bool is_wanted);
