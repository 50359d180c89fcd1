/*
 * Draws the call tree: each box is as wide as its share of the time, and stands below its caller.
 * Where a function does nothing but call one other, both share a box as long as their names fit.
 */
#include "host/top/render/render.h"

#include "host/model/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERCENT_FROM 16u /* boxes this wide show their share */
#define NAME_FROM    3u  /* narrower ones are unreadable, and hide their callees */
#define ARROW        " › "
#define TITLE        "FLAME VIEW  call tree; marked: the hottest path"
#define TITLE_SHORT  "FLAME VIEW"
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

static const struct picture_node *node_at(const struct flame *self, uint32_t number)
{
	return &self->picture->nodes[number];
}

static bool is_alike(const struct picture_node *a, const struct picture_node *b)
{
	return a->is_function == b->is_function && a->language == b->language;
}

/* The one child that has all of the box, but for less than a column, and its colour; else
 * PICTURE_NONE. */
static uint32_t only_child(const struct flame *self, const struct box *box)
{
	const struct picture_node *node = node_at(self, box->last);
	uint64_t total = node_at(self, box->node)->total_ns;

	uint64_t rest;

	if (node->first == PICTURE_NONE || !is_alike(node, node_at(self, node->first)))
		return PICTURE_NONE;
	rest = total - node_at(self, node->first)->total_ns;
	return (unsigned __int128)rest * box->width < total ? node->first : PICTURE_NONE;
}

/* Names from the outermost to the innermost, as many as fit.  The text has `room` bytes. */
static void join_names(const struct flame *self, struct box *box, char *text, size_t room)
{
	unsigned columns = box->width - 1;
	uint32_t child;

	box->last = box->node;
	snprintf(text, room, "%s", node_at(self, box->node)->name);
	while ((child = only_child(self, box)) != PICTURE_NONE) {
		size_t length = strlen(text);
		const char *name = node_at(self, child)->name;

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
	const struct picture_node *node = node_at(self, box->node);

	for (uint32_t at = box->node;; at = node_at(self, at)->first) {
		if (view_finds(self->view, node_at(self, at)->name))
			return STYLE_MATCH;
		if (at == box->last)
			break;
	}
	if (!node->is_function)
		return box->is_hot ? STYLE_BOX_HOT : STYLE_BOX;
	return (box->is_hot ? STYLE_LANGUAGE_HOT : STYLE_LANGUAGE) + node->language;
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
			 (unsigned)(share_of(node_at(self, box->node)->total_ns,
					     self->picture->nodes[0].total_ns) /
				    100));
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
	const struct picture_node *node = node_at(self, box->last);
	uint64_t before = 0;

	for (uint32_t at = node->first; at != PICTURE_NONE; at = node_at(self, at)->next) {
		uint64_t after = before + node_at(self, at)->total_ns;
		unsigned from = (unsigned)((unsigned __int128)box->width * before / node->total_ns);
		unsigned to = (unsigned)((unsigned __int128)box->width * after / node->total_ns);

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

	for (size_t i = 0; i < row->count; i++) {
		const struct picture_node *node = node_at(self, row->boxes[i].node);

		present |= (unsigned)node->is_function << node->language;
	}
	return present;
}

static size_t count_rows(const struct flame *self, struct row *row, struct row *next,
			 unsigned *languages)
{
	size_t count = 0;

	*languages = 0;

	if (!self->picture->node_count || !self->picture->nodes[0].total_ns)
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
