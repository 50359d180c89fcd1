/*
 * A csv file in memory: cells as texts, the first row is the names of the columns.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>

#define CSV_FILE_MAX ((size_t)1 << 30)

struct csv_table {
	char *text; /* the memory of the cells */
	const char **cells;
	size_t rows, columns; /* rows: without the first */
};

int csv_table_read(struct csv_table *ret, const char *path, struct err *err) MUST_CHECK;
void csv_table_done(struct csv_table *table);

/* -1: there is none of this name. */
int csv_table_find(const struct csv_table *table, const char *column);
/* Row 0 is the first below the names. */
const char *csv_table_cell(const struct csv_table *table, size_t row, int column);
/* The same as a number; NaN: it is none, or there is no such column. */
double csv_table_number(const struct csv_table *table, size_t row, int column);

struct csv_place {
	size_t row;
	int column;
};
/* The difference of two cells: exact also for integers that a double cannot hold, as nanoseconds of
 * a machine that has run for months. */
double csv_table_difference(const struct csv_table *table, struct csv_place cell,
			    struct csv_place from);
