/*
 * One fuzz target: takes any bytes, must not crash, and calls must() for what has to hold
 * afterwards.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline void must(bool holds)
{
	if (!holds)
		abort();
}
