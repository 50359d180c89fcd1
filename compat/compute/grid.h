/*
 * A table on a terminal, with lines around its cells.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <stdio.h>

struct grid {
	size_t columns;
	char **cells; /* row by row, the names of the columns first */
	size_t count, room;
	bool has_failed; /* no memory: a cell is missing */
};

/* The text is copied, and cut where it is very long; NULL: "". */
void grid_add(struct grid *grid, const char *text);
void grid_add_number(struct grid *grid, double number); /* NaN: "" */
void grid_print(const struct grid *grid, FILE *out);
void grid_done(struct grid *grid);
