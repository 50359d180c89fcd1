/*
 * Places in Python code and that of other languages, as numbers that stand among the addresses of a
 * stack.  A place is a line of a function of a file; each is kept once, for as long as the program
 * runs, as modules are.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* No program has memory there. */
#define PYTHON_PLACES       (0x5059ull << 48)
#define PYTHON_PLACES_SHIFT 48

/* The name of a function that came when no more could be kept. */
#define PYTHON_TOO_MANY "[functions beyond those that are kept]"

struct python_place {
	const char *function, *file;
	unsigned line;
	const char *language;     /* "python" */
	uint32_t language_number; /* the same for the same one */
};

static inline bool python_is_place(uint64_t address)
{
	return address >> PYTHON_PLACES_SHIFT == PYTHON_PLACES >> PYTHON_PLACES_SHIFT;
}

/* Its number; 0: no memory.  The texts are copied. */
uint64_t language_place_make(const char *language, const char *function, const char *file,
			     unsigned line);

/* The same of Python. */
uint64_t python_place_make(const char *function, const char *file, unsigned line);

/* False: there is no such place. */
bool python_place_find(uint64_t number, struct python_place *ret);
