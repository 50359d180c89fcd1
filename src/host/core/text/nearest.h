/*
 * "Did you mean": the name in a list that is closest to what was typed.
 */
#pragma once

#include <stddef.h>

struct nearest {
	const char *wanted;
	const char *best; /* NULL while nothing was close enough */
	size_t distance;
};

/* Offers one name; the closest of all that were offered stays in best. */
void nearest_offer(struct nearest *nearest, const char *name);
