/*
 * Records that were lost, counted by reason (shared/wire/ring.h).
 */
#pragma once

#include "shared/wire/ring.h"

static inline uint64_t drops_sum(const uint64_t drops[DROP_REASONS])
{
	uint64_t sum = 0;

	for (unsigned reason = 0; reason < DROP_REASONS; reason++)
		sum += drops[reason];
	return sum;
}

static inline void drops_add(uint64_t to[DROP_REASONS], const uint64_t more[DROP_REASONS])
{
	for (unsigned reason = 0; reason < DROP_REASONS; reason++)
		to[reason] += more[reason];
}
