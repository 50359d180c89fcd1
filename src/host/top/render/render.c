/*
 * The screen as a whole: head, panes, keys.
 */
#include "host/top/render/render.h"

#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/model/samples/profile.h"
#include "host/model/statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NARROW_COLUMNS  60u /* less than this is narrow */
#define LOW_LINES       8u  /* less than this has one line of head */
#define REASON_LINES    16u
#define TWO_PANES_LINES 9u /* for threads and functions */
#define ALL_PANES_LINES 14u

static void describe_window(const struct picture *picture, char *ret, size_t room)
{
	if (picture->window_ns)
		snprintf(ret, room, "last %" PRIu64 " s", picture->window_ns / 1000000000u);
	else
		snprintf(ret, room, picture->forgotten ? "all that is kept" : "all so far");
}

static unsigned draw_first_line(struct screen *screen, const struct picture *picture)
{
	bool is_narrow = screen->width < NARROW_COLUMNS;
	const char *kinds = profile_kinds_name(picture->kinds);
	char right[128], window[32], others[32] = "";
	struct field left = line_of(screen, 0);
	unsigned taken;

	describe_window(picture, window, sizeof(window));
	if (is_narrow)
		snprintf(right, sizeof(right), " %s %u Hz", picture->source.sampler, picture->hz);
	else
		snprintf(right, sizeof(right), "  sampler %s, %u Hz · %s · %s",
			 picture->source.sampler, picture->hz, kinds ? kinds : "", window);
	taken = screen_put_right(screen, left, STYLE_PLAIN, right);
	left.width -= MIN(left.width, taken);
	if (!picture->pid) {
		screen_format(screen, left, STYLE_STRONG, "%severy process (%zu)",
			      is_narrow ? "" : "limpet top  ", picture->others);
		return 1;
	}
	if (picture->others)
		snprintf(others, sizeof(others), " and %zu more", picture->others);
	screen_format(screen, left, STYLE_STRONG, "%s%s (%d)%s", is_narrow ? "" : "limpet top  ",
		      picture->process, (int)picture->pid, others);
	return 1;
}

static const char *state_text(const struct picture *picture, const struct view *view)
{
	if (picture->source.error.code)
		return picture->source.error.what;
	if (picture->source.has_ended)
		return view->is_paused ? "ended, paused" : "the process has ended";
	return view->is_paused ? "paused" : "";
}

/* Nothing of nothing is neither complete nor incomplete. */
static void describe_samples(const struct picture *picture, char *ret, size_t room)
{
	uint32_t throttled = picture->source.throttled;
	char taken[24] = "";

	if (throttled > 1)
		snprintf(taken, sizeof(taken), ", 1 in %u taken", throttled);
	if (!picture->seen)
		snprintf(ret, room, "no sample yet, %" PRIu64 " lost", picture->source.lost);
	else
		snprintf(ret, room, "%" PRIu64 " sample%s%s, %.2f %% complete, %" PRIu64 " lost",
			 picture->seen, plural(picture->seen), taken,
			 share_percent(picture->complete, picture->seen), picture->source.lost);
}

static unsigned draw_second_line(struct screen *screen, const struct picture *picture,
				 const struct view *view, unsigned y)
{
	const char *state = state_text(picture, view);
	struct field left = line_of(screen, y);
	char samples[96], only[48] = "", padded[sizeof(picture->source.error.what) + 2];

	if (state[0]) {
		snprintf(padded, sizeof(padded), " %s ", state);
		left.width -=
			MIN(left.width, screen_put_right(screen, left, STYLE_ALERT, padded) + 1);
	}
	describe_samples(picture, samples, sizeof(samples));
	if (picture->only_tid)
		snprintf(only, sizeof(only), " · only thread %d", (int)picture->only_tid);
	screen_format(screen, left, STYLE_PLAIN, "%s · CPU %.0f %%, %zu thread%s%s", samples,
		      picture->percent, picture->thread_count, plural(picture->thread_count), only);
	return 1;
}

/* The first reason; help has them all. */
static unsigned draw_reason(struct screen *screen, const struct picture *picture, unsigned y)
{
	const char *reasons = picture->source.reasons;
	char text[512];

	if (screen->height < REASON_LINES || !reasons[0])
		return 0;
	snprintf(text, sizeof(text), "note (? shows all): %.*s", (int)strcspn(reasons, "\n"),
		 reasons);
	text_shorten(text, MAX(screen->width, NARROW_COLUMNS));
	screen_put(screen, line_of(screen, y), STYLE_QUIET, text);
	return 1;
}

/* Draws as many as fit. */
static unsigned draw_counters(struct screen *screen, const struct picture *picture, unsigned y)
{
	unsigned x = 0;

	if (!picture->counter_count || screen->height < LOW_LINES)
		return 0;
	for (size_t i = 0; i < picture->counter_count; i++) {
		const struct picture_counter *counter = &picture->counters[i];
		char text[256], value[40] = "-";

		if (counter->has_value)
			snprintf(value, sizeof(value), "%.*f%s%s", counter->value < 100 ? 2 : 0,
				 counter->value, counter->unit[0] ? " " : "", counter->unit);
		snprintf(text, sizeof(text), "%s%s %s", i ? " · " : "", counter->name, value);
		if (x + screen_text_width(screen, text) > screen->width)
			break;
		x += screen_put(screen, rest_of(screen, y, x), STYLE_PLAIN, text);
	}
	return 1;
}

static unsigned draw_head(struct screen *screen, const struct picture *picture,
			  const struct view *view)
{
	unsigned y = 0;

	if (screen->height >= LOW_LINES)
		y += draw_first_line(screen, picture);
	y += draw_second_line(screen, picture, view, y);
	y += draw_counters(screen, picture, y);
	return y + draw_reason(screen, picture, y);
}

static void draw_keys(struct screen *screen, unsigned y)
{
	unsigned x = 0;

	for (const struct key_binding *key = key_bindings; key->name; key++) {
		unsigned width = screen_text_width(screen, key->name) +
				 screen_text_width(screen, key->label) + 1;

		if (!key->label[0] || x + width > screen->width)
			break;
		x += screen_put(screen, rest_of(screen, y, x), STYLE_STRONG, key->name) + 1;
		x += screen_put(screen, rest_of(screen, y, x), STYLE_QUIET, key->label) + 2;
	}
}

static void draw_foot(struct screen *screen, const struct view *view, unsigned y)
{
	if (view->is_typing)
		screen_format(screen, line_of(screen, y), STYLE_STRONG,
			      "filter: %s_  (Enter keeps it, Esc drops it)", view->filter);
	else if (view->message[0])
		screen_put(screen, line_of(screen, y), STYLE_STRONG, view->message);
	else if (view->opened.depth && !view->shows_help)
		screen_put(screen, line_of(screen, y), STYLE_STRONG,
			   "Up/Down choose, Enter open, Esc or Backspace back, q quit, ? help");
	else
		draw_keys(screen, y);
}

void render_title(struct screen *screen, const struct view *view, unsigned y,
		  const struct pane_title *title)
{
	enum style style = view->focus == title->pane ? STYLE_FOCUS : STYLE_TITLE;
	struct field line = line_of(screen, y);
	char right[96] = "";

	screen_fill(screen, line, style);
	if (title->count > title->shown && title->shown)
		snprintf(right, sizeof(right), " %zu-%zu of %zu", title->first + 1,
			 title->first + title->shown, title->count);
	if (title->sort)
		print_append(right, sizeof(right), " by %s ", title->sort);
	line.width -= MIN(line.width, screen_put_right(screen, line, style, right));
	screen_put(screen, line, style, title->text);
}

size_t render_scroll(struct view *view, enum pane pane, size_t count, size_t shown)
{
	size_t most = count > shown ? count - shown : 0;

	view->scroll[pane] = MIN(view->scroll[pane], most);
	return view->scroll[pane];
}

/* How the lines are shared out; 0: not shown. */
static void share_out(struct screen *screen, const struct picture *picture, const struct view *view,
		      unsigned lines, unsigned heights[PANES])
{
	unsigned threads = 1 + (unsigned)MIN(picture->thread_count, MAX(lines / 5, 2u));

	memset(heights, 0, PANES * sizeof(*heights));
	if (view->is_zoomed || lines < TWO_PANES_LINES) {
		heights[view->focus] = lines;
		return;
	}
	heights[PANE_THREADS] = threads;
	if (lines >= ALL_PANES_LINES)
		heights[PANE_FLAME] =
			(unsigned)MIN(render_flame_rows(screen, picture, view) + 1, lines / 3);
	else if (view->focus == PANE_FLAME)
		heights[PANE_FLAME] = lines - threads;
	heights[PANE_FUNCTIONS] = lines - threads - heights[PANE_FLAME];
}

typedef void pane_drawer(struct screen *screen, const struct picture *picture, struct view *view,
			 struct area area);

static pane_drawer *const drawers[PANES] = {
	[PANE_THREADS] = render_threads,
	[PANE_FUNCTIONS] = render_functions,
	[PANE_FLAME] = render_flame,
};

void render(struct screen *screen, const struct picture *picture, struct view *view)
{
	unsigned y, lines, heights[PANES];

	if (screen->height < 2 || !screen->width)
		return;
	y = draw_head(screen, picture, view);
	lines = screen->height - y - MIN(screen->height - y, 1u);
	if (view->shows_help) {
		render_help(screen, picture, (struct area){ y, lines });
	} else if (view->opened.depth) {
		render_opened(screen, picture, view, (struct area){ y, lines });
	} else {
		share_out(screen, picture, view, lines, heights);
		for (unsigned pane = 0; pane < PANES; pane++) {
			if (heights[pane])
				drawers[pane](screen, picture, view,
					      (struct area){ y, heights[pane] });
			y += heights[pane];
		}
	}
	draw_foot(screen, view, screen->height - 1);
}
