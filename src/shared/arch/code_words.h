/*
 * Variables that have no name, by the code that sets them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The address of the 32-bit variable that this code, which is at `address`, sets to 1; 0: none, or
 * the code is not understood.  (aarch64: the first variable that it stores to.) */
uint64_t arch_word_set(const unsigned char *code, size_t size, uint64_t address);
