/*
 * Draws tables.
 */
#include "grid.h"

#include "host/core/room.h"
#include "host/core/text/foreign.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_MAX 100u

void grid_add(struct grid *grid, const char *text)
{
	char cut[1024], *cell;

	foreign_copy(cut, sizeof(cut), text ? text : "");
	text_shorten(cut, CELL_MAX);
	cell = strdup(cut);
	if (!cell || make_room(&grid->cells, grid->count, &grid->room, sizeof(*grid->cells))) {
		grid->has_failed = true;
		free(cell);
		return;
	}
	grid->cells[grid->count++] = cell;
}

void grid_add_number(struct grid *grid, double number)
{
	char text[64] = "";

	if (!isnan(number))
		print_into(text, sizeof(text), "%.2f", number);
	grid_add(grid, text);
}

void grid_done(struct grid *grid)
{
	for (size_t i = 0; i < grid->count; i++)
		free(grid->cells[i]);
	free(grid->cells);
	*grid = (struct grid){ 0 };
}

/* In letters. */
static int column_width(const struct grid *grid, size_t column)
{
	int widest = 0;

	for (size_t i = column; i < grid->count; i += grid->columns) {
		int width = 0;

		for (const char *at = grid->cells[i]; *at; at++)
			width += (*at & 0xc0) != 0x80;
		widest = MAX(widest, width);
	}
	return widest;
}

static void line_print(const struct grid *grid, FILE *out, const char *const signs[4])
{
	for (size_t i = 0; i < grid->columns; i++) {
		print(out, "%s", i ? signs[1] : signs[0]);
		for (int j = column_width(grid, i) + 2; j > 0; j--)
			print(out, "%s", signs[2]);
	}
	print(out, "%s\n", signs[3]);
}

void grid_print(const struct grid *grid, FILE *out)
{
	static const char *const top[] = { "╒", "╤", "═", "╕" };
	static const char *const head[] = { "╞", "╪", "═", "╡" };
	static const char *const between[] = { "├", "┼", "─", "┤" };
	static const char *const bottom[] = { "╘", "╧", "═", "╛" };
	size_t rows = grid->columns ? grid->count / grid->columns : 0;

	for (size_t row = 0; row < rows; row++) {
		line_print(grid, out, row == 0 ? top : row == 1 ? head : between);
		for (size_t i = 0; i < grid->columns; i++)
			print(out, "│ %-*s ", column_width(grid, i),
			      grid->cells[row * grid->columns + i]);
		print(out, "│\n");
	}
	line_print(grid, out, bottom);
}
