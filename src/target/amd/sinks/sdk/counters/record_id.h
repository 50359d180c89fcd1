/*
 * Record ids as AMD's library makes them: the counter's id, and six bits for each dimension.
 */
#pragma once

#include "target/amd/sinks/sdk/base/abi.h"

#define RECORD_ID_SHIFT      48u
#define RECORD_ID_BITS       6u
#define RECORD_ID_DIMENSIONS 7u /* numbered from 1; 0: all position bits */

static inline uint64_t record_id(uint64_t counter)
{
	return counter << RECORD_ID_SHIFT;
}

static inline uint64_t record_id_place(uint64_t dimension, uint64_t number)
{
	return (number & ((1u << RECORD_ID_BITS) - 1)) << ((dimension - 1) * RECORD_ID_BITS);
}
