/*
 * All functions of callees.h called once, their results folded into one number.
 */
#pragma once

#include <stdint.h>

/* The same for the same seed, however the calls get there. */
uint64_t round_of(uint64_t seed);

/* How many calls of functions in the library one round makes, those from inside it included. */
#define ROUND_CALLS (4 * 15 + 29 + ROUND_DEPTH)
#define ROUND_DEPTH 5
