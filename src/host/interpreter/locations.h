/*
 * Locations in the code of interpreted languages, as numbers that stand among the addresses of a
 * stack.  A location is a line of a function of a file; each is kept once, for as long as limpet
 * runs, as modules are.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* No program has memory there. */
#define LANGUAGE_LOCATIONS       (0x5059ull << 48)
#define LANGUAGE_LOCATIONS_SHIFT 48

/* The name of a function beyond the limit. */
#define LANGUAGE_TOO_MANY "[functions beyond those that are kept]"

struct language_location {
	const char *function, *file;
	unsigned line;
	const char *language;     /* "python" */
	uint32_t language_number; /* the same for the same one */
};

static inline bool is_language_location(uint64_t address)
{
	return address >> LANGUAGE_LOCATIONS_SHIFT ==
	       LANGUAGE_LOCATIONS >> LANGUAGE_LOCATIONS_SHIFT;
}

/* Its number; 0: no memory.  The texts are copied. */
uint64_t language_location_make(const char *language, const char *function, const char *file,
				unsigned line);

/* False: there is no such location. */
bool language_location_find(uint64_t number, struct language_location *ret);
