/*
 * Where in a device a value was counted.  A block of a device exists several times, and each of its
 * instances counts by itself: its place is a number in each dimension.
 */
#pragma once

#include "shared/base/macros.h"

enum counter_dimension {
	DIMENSION_XCC,
	DIMENSION_AID,
	DIMENSION_SHADER_ENGINE,
	DIMENSION_SHADER_ARRAY,
	DIMENSION_WGP,
	DIMENSION_INSTANCE,
	DIMENSIONS,
};

#define DIMENSION_BITS 8u

/* AMD's name of each, and that of its aqlprofile library. */
struct dimension_name {
	const char *name, *brief;
};
extern const struct dimension_name dimension_names[DIMENSIONS];

/* The dimension that has one of both; DIMENSIONS: there is none. */
unsigned dimension_find(const char *name, size_t length);

/* A place, as records have it. */
static inline unsigned place_in(uint64_t place, unsigned dimension)
{
	return place >> (DIMENSION_BITS * dimension) & ((1u << DIMENSION_BITS) - 1);
}

static inline uint64_t place_of(unsigned dimension, unsigned number)
{
	return (uint64_t)(number & ((1u << DIMENSION_BITS) - 1)) << (DIMENSION_BITS * dimension);
}

/* Without these dimensions (bits). */
static inline uint64_t place_without(uint64_t place, unsigned dimensions)
{
	for (unsigned i = 0; i < DIMENSIONS; i++)
		if (dimensions & 1u << i)
			place &= ~place_of(i, UINT32_MAX);
	return place;
}
