/*
 * Locations in Python code and that of other languages, as numbers that stand among the addresses
 * of a stack.  A location is a line of a function of a file; each is kept once, for as long as the
 * program runs, as modules are.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* No program has memory there. */
#define PYTHON_LOCATIONS       (0x5059ull << 48)
#define PYTHON_LOCATIONS_SHIFT 48

/* The name of a function beyond the limit. */
#define PYTHON_TOO_MANY "[functions beyond those that are kept]"

struct python_location {
	const char *function, *file;
	unsigned line;
	const char *language;     /* "python" */
	uint32_t language_number; /* the same for the same one */
};

static inline bool python_is_location(uint64_t address)
{
	return address >> PYTHON_LOCATIONS_SHIFT == PYTHON_LOCATIONS >> PYTHON_LOCATIONS_SHIFT;
}

/* Its number; 0: no memory.  The texts are copied. */
uint64_t language_location_make(const char *language, const char *function, const char *file,
				unsigned line);

/* The same of Python. */
uint64_t python_location_make(const char *function, const char *file, unsigned line);

/* False: there is no such location. */
bool python_location_find(uint64_t number, struct python_location *ret);
