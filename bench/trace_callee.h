/*
 * A function in a library of its own.
 */
#pragma once

#include <stdint.h>

uint64_t trivial(uint64_t a, uint64_t b);
