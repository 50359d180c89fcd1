/*
 * The memory still available, for code that cannot handle its lack: libdw ends the program.
 */
#pragma once

#include "shared/base/macros.h"

/* Bytes of address space left under `ulimit -v`; UINT64_MAX: no limit. */
uint64_t address_space_left(void);

/* The same, and no more than the machine has without writing others' memory to disk. */
uint64_t memory_left(void);
