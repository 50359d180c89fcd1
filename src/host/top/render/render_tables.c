/*
 * Draws threads and functions.
 */
#include "host/top/render/render.h"

#include "host/core/cleanup.h"
#include "host/model/samples/profile.h"
#include "host/model/statistics.h"

#include <inttypes.h>
#include <stdio.h>

#define NARROW_COLUMNS   60u
#define STRONG_HUNDREDTH 1000u /* 10 % */

static const char *thread_state(const struct picture_thread *thread)
{
	return thread->state ? thread_state_name(thread->state) : "ended";
}

static void draw_thread(struct screen *screen, const struct picture_thread *thread,
			enum style style, unsigned y)
{
	char percent[16] = "-", numbers[64];
	unsigned x;

	if (thread->percent >= 0)
		snprintf(percent, sizeof(percent), "%.0f", thread->percent);
	if (screen->width < NARROW_COLUMNS)
		snprintf(numbers, sizeof(numbers), "%7d %-8s %4s  ", (int)thread->tid,
			 thread_state(thread), percent);
	else
		snprintf(numbers, sizeof(numbers), "%8d  %-9s %5s %9" PRIu64 "  ", (int)thread->tid,
			 thread_state(thread), percent, thread->samples);
	screen_fill(screen, line_of(screen, y), style);
	x = screen_put(screen, line_of(screen, y), style, numbers);
	screen_put(screen, rest_of(screen, y, x), style, thread->name);
}

static size_t find_cursor(const struct view *view, const struct picture_thread **rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i]->tid == view->cursor_tid)
			return i;
	return 0;
}

/* The chosen one stays in sight. */
static size_t scroll_to_cursor(struct view *view, enum pane pane, size_t cursor, size_t count,
			       size_t shown)
{
	size_t *scroll = &view->scroll[pane];

	if (cursor < *scroll)
		*scroll = cursor;
	else if (shown && cursor >= *scroll + shown)
		*scroll = cursor - shown + 1;
	return render_scroll(view, pane, count, shown);
}

static enum style thread_style(const struct view *view, const struct picture_thread *thread,
			       bool is_cursor)
{
	if (is_cursor && view->focus == PANE_THREADS)
		return STYLE_CURSOR;
	return thread->tid == view->only_tid ? STYLE_STRONG : STYLE_PLAIN;
}

void render_threads(struct screen *screen, const struct picture *picture, struct view *view,
		    struct area area)
{
	CLEANUP(free) const struct picture_thread **rows = view_threads(view, picture);
	size_t count = rows ? picture->thread_count : 0, shown = MIN(count, area.height - 1);
	size_t cursor = find_cursor(view, rows, count);
	size_t first = scroll_to_cursor(view, PANE_THREADS, cursor, count, shown);
	bool is_narrow = screen->width < NARROW_COLUMNS;

	render_title(screen, view, area.y,
		     &(struct pane_title){ .pane = PANE_THREADS,
					   .text = is_narrow ? "    TID STATE     CPU  THREAD"
							     : "     TID  STATE     CPU %  "
							       " SAMPLES  THREAD",
					   .sort = view_sort(view, PANE_THREADS)->name,
					   .first = first,
					   .shown = shown,
					   .count = count });
	for (size_t i = 0; i < shown; i++)
		draw_thread(screen, rows[first + i],
			    thread_style(view, rows[first + i], first + i == cursor),
			    area.y + 1 + (unsigned)i);
}

static void draw_function(struct screen *screen, const struct picture *picture,
			  const struct view *view, const struct picture_function *row,
			  bool is_cursor, unsigned y)
{
	uint64_t self = share_of(row->self_ns, picture->weight_ns);
	enum style style = is_cursor                  ? STYLE_CURSOR
			   : self >= STRONG_HUNDREDTH ? STYLE_STRONG
						      : STYLE_PLAIN;
	unsigned module = module_columns(screen);
	struct field name;
	char numbers[48];

	screen_fill(screen, line_of(screen, y), is_cursor ? style : STYLE_PLAIN);
	snprintf(numbers, sizeof(numbers), "%7.1f %8.1f  ",
		 share_tenths(row->self_ns, picture->weight_ns),
		 share_tenths(row->total_ns, picture->weight_ns));
	name = rest_of(screen, y, screen_put(screen, line_of(screen, y), style, numbers));
	if (module && row->is_named) {
		name.width -= MIN(name.width, module + 2);
		screen_put(screen, rest_of(screen, y, screen->width - module),
			   is_cursor ? style : STYLE_QUIET, row->module);
	}
	screen_put(screen, name, view_finds(view, row->name) ? STYLE_MATCH : style, row->name);
}

/* Why there is nothing to see. */
static void draw_nothing(struct screen *screen, const struct picture *picture,
			 const struct view *view, unsigned y)
{
	struct field field = rest_of(screen, y, 2);

	if (picture->function_count)
		screen_format(screen, field, STYLE_QUIET, "no function has '%s' in its name",
			      view->filter);
	else if (picture->samples)
		screen_format(screen, field, STYLE_QUIET, "sampler %s sees no stacks: ? says why",
			      picture->source.sampler);
	else
		screen_put(screen, field, STYLE_QUIET,
			   picture->kinds == KINDS_ON_CPU
				   ? "no thread was seen running in this time"
				   : "no sample of this kind in this time");
}

void render_functions(struct screen *screen, const struct picture *picture, struct view *view,
		      struct area area)
{
	size_t count, shown, first, cursor;
	CLEANUP(free)
	const struct picture_function **rows = view_functions(view, picture, &count);
	char title[128];

	shown = MIN(count, area.height - 1);
	cursor = view_cursor(view, rows, count);
	first = scroll_to_cursor(view, PANE_FUNCTIONS, cursor, count, shown);
	snprintf(title, sizeof(title), " SELF %%  TOTAL %%  FUNCTION%s%s",
		 view->filter[0] ? " with: " : "", view->filter);
	render_title(screen, view, area.y,
		     &(struct pane_title){ .pane = PANE_FUNCTIONS,
					   .text = title,
					   .sort = view_sort(view, PANE_FUNCTIONS)->name,
					   .first = first,
					   .shown = shown,
					   .count = count });
	for (size_t i = 0; i < shown; i++)
		draw_function(screen, picture, view, rows[first + i],
			      view->focus == PANE_FUNCTIONS && first + i == cursor,
			      area.y + 1 + (unsigned)i);
	if (!count && area.height > 1)
		draw_nothing(screen, picture, view, area.y + 1);
}
