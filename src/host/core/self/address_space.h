/*
 * How much memory may still be had, for what cannot bear that there is none: libdw ends the
 * program.
 */
#pragma once

#include "shared/base/macros.h"

/* Bytes of address space that `ulimit -v` leaves us; UINT64_MAX: it has no limit. */
uint64_t address_space_left(void);

/* The same, and no more than the machine has without writing others' memory to disk. */
uint64_t memory_left(void);
