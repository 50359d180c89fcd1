/*
 * Where in a device a value was counted.  A block of a device exists several times, and each of its
 * instances counts by itself: its place is a number in each dimension.
 */
#pragma once

#include "host/core/text/text.h"

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

/* AMD's name for it, "DIMENSION_XCC". */
const char *dimension_name(enum counter_dimension dimension);
/* The dimension of that name, also of AMD's aqlprofile ("XCD", "SE"); -ENOENT. */
int dimension_find(struct text name) MUST_CHECK;

/* A place, as records have it. */
static inline unsigned place_in(uint64_t place, enum counter_dimension dimension)
{
	return place >> (DIMENSION_BITS * dimension) & ((1u << DIMENSION_BITS) - 1);
}

static inline uint64_t place_of(enum counter_dimension dimension, unsigned number)
{
	return (uint64_t)(number & ((1u << DIMENSION_BITS) - 1)) << (DIMENSION_BITS * dimension);
}
