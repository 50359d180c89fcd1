/*
 * Finds a function by name in the module that contains an address, from the module's own symbols:
 * no dlsym, so hooks may call it while modules are walked (libc_calls.h).
 */
#pragma once

#include <stdint.h>

/* A function's code; 0 bytes: not found. */
struct beside {
	uint64_t begin, size;
};

/* Any thread; the caller keeps the module loaded while it uses the result. */
struct beside beside_find(uint64_t code, const char *name);
