/*
 * Variables that have no name, by the code that sets them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The address of the 32-bit variable that this code, which lies there, stores 1 into; 0: none, or
 * code that is not understood.  (aarch64: the first that it stores anything into.) */
uint64_t arch_word_set(const unsigned char *code, size_t size, uint64_t address);
