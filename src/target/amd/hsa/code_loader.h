/*
 * Code objects as the HSA runtime's loader lists them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Stores the code objects of one executable (0: of all) that are not stored yet, and their kernels.
 * Called under the store's lock. False: the application may be starting or shutting down the
 * runtime; call again later. */
bool code_loader_look(uint64_t executable);
