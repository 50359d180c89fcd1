/*
 * What the program numbered.c, its library and the driver of tests/hooks/stress.py agree on.
 */
#pragma once

#include <stdint.h>

#define NUMBERED_FACTOR  0x9e3779b97f4a7c15u
#define NUMBERED_THREADS 8

uint64_t numbered_step(uint64_t number);
