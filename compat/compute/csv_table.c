/*
 * Parses csv: commas, quotes doubled inside of quotes, line ends of either kind.  A row with too
 * few cells has empty ones, further cells are ignored.
 */
#include "csv_table.h"

#include "host/core/room.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 8192u

struct csv_reader {
	char *at;
	struct csv_table *table;
	size_t room, count; /* of cells */
	bool is_line_end;
};

/* The cell that begins here, unquoted where it stands; moves behind it. */
static const char *cell_take(struct csv_reader *self)
{
	char *begin = self->at, *out = self->at, *in = self->at;
	bool is_quoted = *in == '"';

	in += is_quoted;
	while (*in && (is_quoted || (*in != ',' && *in != '\n' && *in != '\r'))) {
		if (is_quoted && *in == '"' && *++in != '"') {
			is_quoted = false;
			continue;
		}
		*out++ = *in++;
	}
	while (*in == '\r')
		in++;
	self->is_line_end = *in != ',';
	self->at = in + (*in != '\0');
	*out = '\0';
	return begin;
}

static int cell_add(struct csv_reader *self, const char *cell)
{
	if (make_room(&self->table->cells, self->count, &self->room, sizeof(*self->table->cells)))
		return -ENOMEM;
	self->table->cells[self->count++] = cell;
	return 0;
}

static int names_read(struct csv_reader *self)
{
	int r = 0;

	do
		r = cell_add(self, cell_take(self));
	while (!r && !self->is_line_end && self->count < COLUMNS_MAX);
	self->table->columns = self->count;
	return r ? r : (self->is_line_end ? 0 : -E2BIG);
}

static int row_read(struct csv_reader *self)
{
	size_t column = 0;
	int r = 0;

	do {
		const char *cell = cell_take(self);

		if (column++ < self->table->columns)
			r = cell_add(self, cell);
	} while (!r && !self->is_line_end);
	while (!r && column++ < self->table->columns)
		r = cell_add(self, "");
	self->table->rows++;
	return r;
}

int csv_table_read(struct csv_table *ret, const char *path, struct err *err)
{
	struct csv_reader self = { .table = ret };
	size_t size;
	int r;

	*ret = (struct csv_table){ 0 };
	r = text_read_file(path, CSV_FILE_MAX, &ret->text, &size);
	if (r)
		return err_set(err, r, "read '%s': %s", path, strerror(-r));
	self.at = ret->text;
	r = names_read(&self);
	while (!r && *self.at)
		r = row_read(&self);
	if (r) {
		csv_table_done(ret);
		err_set(err, r, "read '%s': %s", path, strerror(-r));
	}
	return r;
}

void csv_table_done(struct csv_table *table)
{
	free(table->text);
	free(table->cells);
	*table = (struct csv_table){ 0 };
}

int csv_table_find(const struct csv_table *table, const char *column)
{
	for (size_t i = 0; i < table->columns; i++)
		if (!strcmp(table->cells[i], column))
			return (int)i;
	return -1;
}

const char *csv_table_cell(const struct csv_table *table, size_t row, int column)
{
	return column < 0 ? "" : table->cells[(row + 1) * table->columns + (size_t)column];
}

double csv_table_number(const struct csv_table *table, size_t row, int column)
{
	const char *cell = csv_table_cell(table, row, column);
	char *end;
	double number = strtod(cell, &end);

	return end == cell || *end ? (double)NAN : number;
}

double csv_table_difference(const struct csv_table *table, struct csv_place cell,
			    struct csv_place from)
{
	uint64_t number, before;

	if (cell.column < 0 || from.column < 0 ||
	    text_parse_number(csv_table_cell(table, cell.row, cell.column), INT64_MAX, &number) ||
	    text_parse_number(csv_table_cell(table, from.row, from.column), INT64_MAX, &before))
		return csv_table_number(table, cell.row, cell.column) -
		       csv_table_number(table, from.row, from.column);
	return (double)((int64_t)number - (int64_t)before);
}
