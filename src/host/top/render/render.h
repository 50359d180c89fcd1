/*
 * Draws a picture on a screen of any size.
 */
#pragma once

#include "host/top/render/screen.h"
#include "host/top/view.h"

/* All of it.  Rows that were scrolled too far are put right in the view. */
void render(struct screen *screen, const struct picture *picture, struct view *view);

/* Parts of it, each in the lines from y on. */
struct area {
	unsigned y, height;
};

void render_threads(struct screen *screen, const struct picture *picture, struct view *view,
		    struct area area);
void render_functions(struct screen *screen, const struct picture *picture, struct view *view,
		      struct area area);
void render_flame(struct screen *screen, const struct picture *picture, struct view *view,
		  struct area area);
/* How many rows of boxes there are. */
size_t render_flame_rows(struct screen *screen, const struct picture *picture,
			 const struct view *view);
void render_opened(struct screen *screen, const struct picture *picture, const struct view *view,
		   struct area area);
void render_help(struct screen *screen, const struct picture *picture, struct area area);

/* The first line of a pane: its title, and at the right end the range of rows. */
struct pane_title {
	enum pane pane;
	const char *text;
	const char *sort;           /* NULL */
	size_t first, shown, count; /* rows */
};
void render_title(struct screen *screen, const struct view *view, unsigned y,
		  const struct pane_title *title);

/* How far a pane with so many rows can be scrolled. */
size_t render_scroll(struct view *view, enum pane pane, size_t count, size_t shown);

/* How much of a line a function's module has: more on wide screens, nothing on narrow ones. */
static inline unsigned module_columns(const struct screen *screen)
{
	if (screen->width < 72)
		return 0;
	return screen->width < 100 ? 20 : 20 + (screen->width - 100) / 3;
}

/* The whole line y. */
static inline struct field line_of(const struct screen *screen, unsigned y)
{
	return (struct field){ y, 0, screen->width };
}

/* The line from x on. */
static inline struct field rest_of(const struct screen *screen, unsigned y, unsigned x)
{
	return (struct field){ y, x, screen->width - MIN(x, screen->width) };
}
