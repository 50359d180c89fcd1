/*
 * Finds a function by its name in the module that has a piece of code, from the module's own
 * symbols: no question to the loader, so hooks may do so while modules are walked (libc_calls.h).
 */
#pragma once

#include <stdint.h>

/* A piece of code; 0 bytes: there is none. */
struct beside {
	uint64_t begin, size;
};

/* Any thread; the module must stay for who uses it. */
struct beside beside_find(uint64_t code, const char *name);
