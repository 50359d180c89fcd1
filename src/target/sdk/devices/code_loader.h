/*
 * What the HSA runtime's loader tells of code objects.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Keeps the code objects of one executable (0: of all) that are not kept yet, and their kernels;
 * under the store's lock.  False: the program may be starting the runtime just now, or shutting it
 * down; then later. */
bool code_loader_look(uint64_t executable);

/* It was shut down: the next one has other functions. */
void code_loader_forget(void);
