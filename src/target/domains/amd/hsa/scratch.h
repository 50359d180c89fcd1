/*
 * Scratch memory: HSA calls tools through a table of its own when kernels need more of it.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* Stores limpet's functions into empty slots; functions of another tool stay, and their events are
 * not seen. False if no slot is limpet's. */
bool scratch_hook(uint64_t *slots, unsigned count);
