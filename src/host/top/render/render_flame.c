/*
 * Draws the call tree: each box is as wide as its share of the time, and stands below its caller.
 * Where a function does nothing but call one other, both share a box as long as their names fit.
 */
#include "host/top/render/render.h"

#include "host/model/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERCENT_FROM   16u /* boxes this wide show their share */
#define NAME_FROM      3u  /* narrower ones are unreadable, and hide their callees */
#define ARROW          " › "
#define NAME_MAX_BYTES 512u
#define TITLE          "FLAME VIEW  call tree; marked: the hottest path"
#define TITLE_SHORT    "FLAME VIEW"
/* The room for the range of rows at the right end of the title. */
#define NUMBERS_ROOM 16u

struct box {
	uint32_t node; /* the first that it shows */
	uint32_t last; /* the innermost */
	unsigned x, width;
	bool is_hot; /* on the path of the heaviest */
};

struct row {
	struct box *boxes; /* as many as the screen has columns */
	size_t count;
};

struct flame {
	struct screen *screen;
	const struct picture *picture;
	const struct view *view;
};

static const struct tree_node *node_at(const struct flame *self, uint32_t number)
{
	return &self->picture->tree.nodes[number];
}

static uint64_t total_of(const struct flame *self, uint32_t number)
{
	return self->picture->tree.metrics[number].total_ns;
}

/* A function's; FRAME_LANGUAGES of a process or of lost callers. */
static unsigned language_of(const struct flame *self, uint32_t number)
{
	const struct tree_node *node = node_at(self, number);

	return node->kind == TREE_FUNCTION ? call_tree_language(&self->picture->tree, node)
					   : FRAME_LANGUAGES;
}

/* The one child that has all of the box, but for less than a column, and its colour; else
 * TREE_NONE. */
static uint32_t only_child(const struct flame *self, const struct box *box)
{
	uint32_t child = node_at(self, box->last)->first;
	uint64_t total = total_of(self, box->node), rest;

	if (child == TREE_NONE || language_of(self, box->last) != language_of(self, child))
		return TREE_NONE;
	rest = total - total_of(self, child);
	return (unsigned __int128)rest * box->width < total ? child : TREE_NONE;
}

/* Names from the outermost to the innermost, as many as fit.  The text has `room` bytes. */
static void join_names(const struct flame *self, struct box *box, char *text, size_t room)
{
	const struct call_tree *tree = &self->picture->tree;
	unsigned columns = box->width - 1;
	char name[NAME_MAX_BYTES];
	uint32_t child;

	box->last = box->node;
	call_tree_name(tree, node_at(self, box->node), text, NAME_MAX_BYTES);
	while ((child = only_child(self, box)) != TREE_NONE) {
		size_t length = strlen(text);

		call_tree_name(tree, node_at(self, child), name, sizeof(name));
		if (screen_text_width(self->screen, text) + 3 +
				    screen_text_width(self->screen, name) >
			    columns ||
		    length + strlen(ARROW) + strlen(name) >= room)
			return;
		snprintf(text + length, room - length, ARROW "%s", name);
		box->last = child;
	}
}

static enum style box_style(const struct flame *self, const struct box *box)
{
	unsigned language = language_of(self, box->node);
	char name[NAME_MAX_BYTES];

	for (uint32_t at = box->node;; at = node_at(self, at)->first) {
		call_tree_name(&self->picture->tree, node_at(self, at), name, sizeof(name));
		if (view_finds(self->view, name))
			return STYLE_MATCH;
		if (at == box->last)
			break;
	}
	if (language == FRAME_LANGUAGES)
		return box->is_hot ? STYLE_BOX_HOT : STYLE_BOX;
	return (box->is_hot ? STYLE_LANGUAGE_HOT : STYLE_LANGUAGE) + language;
}

static void draw_box(const struct flame *self, const struct box *box, const char *text,
		     enum style style, unsigned y)
{
	struct field field = { y, box->x, box->width }, inside = { y, box->x + 1, box->width - 1 };
	char percent[16];

	screen_fill(self->screen, field, style);
	screen_put(self->screen, (struct field){ y, box->x, 1 }, style, "│");
	if (box->width >= PERCENT_FROM) {
		snprintf(percent, sizeof(percent), " %u%%",
			 (unsigned)(share_of(total_of(self, box->node), total_of(self, 0)) / 100));
		if (screen_text_width(self->screen, text) + strlen(percent) <= inside.width)
			screen_put_right(self->screen, inside, style, percent);
	}
	if (box->width >= NAME_FROM)
		screen_put(self->screen, inside, style, text);
}

/* y: where it is drawn; UINT32_MAX: not at all. */
static void lay_row(const struct flame *self, struct row *row, unsigned y)
{
	char text[2048];

	for (size_t i = 0; i < row->count; i++) {
		struct box *box = &row->boxes[i];

		join_names(self, box, text, sizeof(text));
		if (y != UINT32_MAX)
			draw_box(self, box, text, box_style(self, box), y);
	}
}

static void add_children(const struct flame *self, const struct box *box, struct row *next)
{
	const struct tree_node *node = node_at(self, box->last);
	uint64_t before = 0, total = total_of(self, box->last);

	for (uint32_t at = node->first; at != TREE_NONE; at = node_at(self, at)->next) {
		uint64_t after = before + total_of(self, at);
		unsigned from = (unsigned)((unsigned __int128)box->width * before / total);
		unsigned to = (unsigned)((unsigned __int128)box->width * after / total);

		if (to > from && next->count < self->screen->width)
			next->boxes[next->count++] =
				(struct box){ .node = at,
					      .x = box->x + from,
					      .width = to - from,
					      .is_hot = box->is_hot && at == node->first };
		before = after;
	}
}

static void next_row(const struct flame *self, struct row *row, struct row *next)
{
	struct row old = *row;

	next->count = 0;
	for (size_t i = 0; i < row->count; i++)
		if (row->boxes[i].width >= NAME_FROM)
			add_children(self, &row->boxes[i], next);
	*row = *next;
	*next = old;
}

/* The root itself is not shown: all boxes of the first row share it. */
static void row_begin(const struct flame *self, struct row *row, struct row *next)
{
	row->boxes[0] = (struct box){ .width = self->screen->width, .is_hot = true };
	row->count = 1;
	next_row(self, row, next);
}

/* The languages of a row, as bits. */
static unsigned row_languages(const struct flame *self, const struct row *row)
{
	unsigned present = 0;

	for (size_t i = 0; i < row->count; i++)
		present |= 1u << language_of(self, row->boxes[i].node);
	return present & ((1u << FRAME_LANGUAGES) - 1);
}

static size_t count_rows(const struct flame *self, struct row *row, struct row *next,
			 unsigned *languages)
{
	size_t count = 0;

	*languages = 0;
	if (!self->picture->tree.count || !total_of(self, 0))
		return 0;
	for (row_begin(self, row, next); row->count; next_row(self, row, next)) {
		lay_row(self, row, UINT32_MAX);
		*languages |= row_languages(self, row);
		count++;
	}
	return count;
}

static void draw_rows(const struct flame *self, struct row *row, struct row *next,
		      const struct pane_title *title, unsigned y)
{
	size_t i = 0;

	for (row_begin(self, row, next); row->count && i < title->first + title->shown;
	     next_row(self, row, next)) {
		lay_row(self, row,
			i >= title->first ? y + (unsigned)(i - title->first) : UINT32_MAX);
		i++;
	}
}

/* Room for two rows of boxes; false: there is none. */
static bool make_rows(const struct screen *screen, struct row *row, struct row *next)
{
	row->boxes = calloc(screen->width, sizeof(*row->boxes));
	next->boxes = calloc(screen->width, sizeof(*next->boxes));
	return row->boxes && next->boxes;
}

static void free_rows(struct row *row, struct row *next)
{
	free(row->boxes);
	free(next->boxes);
}

size_t render_flame_rows(struct screen *screen, const struct picture *picture,
			 const struct view *view)
{
	const struct flame self = { screen, picture, view };
	struct row row = { 0 }, next = { 0 };
	unsigned languages;
	size_t count =
		make_rows(screen, &row, &next) ? count_rows(&self, &row, &next, &languages) : 0;

	free_rows(&row, &next);
	return count;
}

static unsigned legend_width(unsigned languages)
{
	unsigned width = 0;

	for (unsigned i = 0; i < FRAME_LANGUAGES; i++)
		if (languages & 1u << i)
			width += (unsigned)strlen(frame_styles[i].name) + 3;
	return width;
}

/* In the line of the title, from x on: the languages of the boxes, as many as fit. */
static void draw_legend(struct screen *screen, unsigned y, unsigned x, unsigned languages)
{
	for (unsigned i = 0; i < FRAME_LANGUAGES; i++) {
		unsigned width = legend_width(languages & 1u << i);

		if (!width || x + width + NUMBERS_ROOM > screen->width)
			continue;
		screen_format(screen, (struct field){ y, x, width - 1 }, STYLE_LANGUAGE + i, " %s ",
			      frame_styles[i].name);
		x += width;
	}
}

void render_flame(struct screen *screen, const struct picture *picture, struct view *view,
		  struct area area)
{
	const struct flame self = { screen, picture, view };
	struct pane_title title = { .pane = PANE_FLAME, .text = TITLE };
	struct row row = { 0 }, next = { 0 };
	unsigned languages = 0;

	if (make_rows(screen, &row, &next))
		title.count = count_rows(&self, &row, &next, &languages);
	title.shown = MIN(title.count, area.height - 1);
	title.first = render_scroll(view, PANE_FLAME, title.count, title.shown);
	if (strlen(TITLE) + 1 + legend_width(languages) + NUMBERS_ROOM > screen->width)
		title.text = TITLE_SHORT;
	render_title(screen, view, area.y, &title);
	draw_legend(screen, area.y, (unsigned)strlen(title.text) + 1, languages);
	if (title.count)
		draw_rows(&self, &row, &next, &title, area.y + 1);
	else if (area.height > 1)
		screen_put(screen, rest_of(screen, area.y + 1, 2), STYLE_QUIET,
			   "no stack was seen in this time");
	free_rows(&row, &next);
}
