/*
 * Draws the page of one function: its callers, its callees, its lines.
 */
#include "host/top/render/render.h"

#include "host/core/text/path.h"
#include "host/model/statistics.h"

#include <stdio.h>

#define SECTIONS   3u
#define LEAST_ROWS 2u

/* One list of the page. */
struct section {
	const char *title;
	size_t count;
	size_t first, shown; /* rows in sight */
};

struct page {
	struct screen *screen;
	const struct picture *picture;
	const struct view *view;
	unsigned y;
};

static double percent_of(const struct page *page, uint64_t part)
{
	return share_tenths(part, page->picture->weight_ns);
}

/* Divides the lines; a section's unused lines go to the others. */
static void share_out(struct section sections[SECTIONS], size_t lines)
{
	size_t left = lines > SECTIONS ? lines - SECTIONS : 0;

	for (unsigned i = 0; i < SECTIONS; i++) {
		sections[i].shown = MIN(sections[i].count, MIN(left, LEAST_ROWS));
		left -= sections[i].shown;
	}
	for (bool is_given = true; left && is_given;) {
		is_given = false;
		for (unsigned i = 0; left && i < SECTIONS; i++)
			if (sections[i].shown < sections[i].count) {
				sections[i].shown++;
				left--;
				is_given = true;
			}
	}
}

/* The chosen row is in sight. */
static void scroll_to(struct section *section, size_t cursor)
{
	if (cursor < section->count && cursor >= section->shown)
		section->first = cursor - section->shown + 1;
}

static void draw_neighbour(const struct page *page, const struct picture_neighbour *row,
			   bool is_cursor)
{
	struct screen *screen = page->screen;
	enum style style = is_cursor ? STYLE_CURSOR : STYLE_PLAIN;
	unsigned module = module_columns(screen);
	struct field name;
	char number[32];

	screen_fill(screen, line_of(screen, page->y), style);
	snprintf(number, sizeof(number), "%7s %8.1f  ", "", percent_of(page, row->total_ns));
	name = rest_of(screen, page->y,
		       screen_put(screen, line_of(screen, page->y), style, number));
	if (module && row->is_named) {
		name.width -= MIN(name.width, module + 2);
		screen_put(screen, rest_of(screen, page->y, screen->width - module),
			   is_cursor ? style : STYLE_QUIET, row->module);
	}
	screen_put(screen, name, style, row->name);
}

static void draw_line(const struct page *page, const struct hot_line *row)
{
	char text[512];

	if (row->line)
		snprintf(text, sizeof(text), "%s:%u", path_base_name(row->file), row->line);
	else
		snprintf(text, sizeof(text), "line not known (no debug information)");
	screen_format(page->screen, line_of(page->screen, page->y), STYLE_PLAIN, "%7.1f %8.1f  %s",
		      percent_of(page, row->self_ns), percent_of(page, row->total_ns), text);
}

static void draw_title(const struct page *page, const struct section *section)
{
	struct field line = line_of(page->screen, page->y);
	char right[64] = "";

	screen_fill(page->screen, line, STYLE_TITLE);
	if (section->count > section->shown)
		snprintf(right, sizeof(right), " %zu-%zu of %zu ", section->first + 1,
			 section->first + section->shown, section->count);
	screen_put_right(page->screen, line, STYLE_TITLE, right);
	screen_put(page->screen, line, STYLE_TITLE, section->title);
}

/* number: of the section; callers and callees share one cursor. */
static void draw_section(struct page *page, const struct section *section, unsigned number)
{
	const struct picture_opened *opened = &page->picture->opened;
	size_t before = number ? opened->caller_count : 0;

	draw_title(page, section);
	page->y++;
	for (size_t i = section->first; i < section->first + section->shown; i++, page->y++)
		if (number < 2)
			draw_neighbour(page, opened_row(page->picture, before + i),
				       page->view->opened.cursor == before + i);
		else
			draw_line(page, &opened->lines[i]);
}

static void draw_head(struct page *page)
{
	const struct opened *opened = &page->view->opened;

	screen_fill(page->screen, line_of(page->screen, page->y), STYLE_FOCUS);
	screen_format(page->screen, line_of(page->screen, page->y), STYLE_FOCUS,
		      " %s (%s): self %.1f %%, total %.1f %%", opened_name(opened),
		      opened_module(opened), percent_of(page, page->picture->opened.self_ns),
		      percent_of(page, page->picture->opened.total_ns));
	page->y++;
}

void render_opened(struct screen *screen, const struct picture *picture, const struct view *view,
		   struct area area)
{
	const struct picture_opened *opened = &picture->opened;
	struct page page = { screen, picture, view, area.y };
	struct section sections[SECTIONS] = {
		{ .title = "         TOTAL %  CALLED BY", .count = opened->caller_count },
		{ .title = "         TOTAL %  CALLS", .count = opened->callee_count },
		{ .title = " SELF %  TOTAL %  LINES", .count = opened->line_count },
	};

	if (area.height < SECTIONS + 2)
		return;
	draw_head(&page);
	if (!opened->total_ns) {
		screen_put(screen, rest_of(screen, page.y, 2), STYLE_QUIET,
			   "it was not seen in this time");
		return;
	}
	share_out(sections, area.height - 1);
	scroll_to(&sections[0], view->opened.cursor);
	if (view->opened.cursor >= opened->caller_count)
		scroll_to(&sections[1], view->opened.cursor - opened->caller_count);
	for (unsigned i = 0; i < SECTIONS; i++)
		draw_section(&page, &sections[i], i);
}
