/*
 * The keys.  One is a line in the table: help and the last line of the screen are made from it.
 */
#include "host/top/view.h"

#include "host/core/cleanup.h"

#include <stdio.h>
#include <string.h>

#define PAGE_ROWS 10L
#define ESCAPE    0x1bu

static unsigned type_filter(struct view *view, const struct picture *picture)
{
	(void)picture;
	view->is_typing = true;
	view->filter[0] = '\0';
	return 0;
}

static unsigned sort_rows(struct view *view, const struct picture *picture)
{
	const struct pane_sort *sort;

	(void)picture;
	view->sort[view->focus]++;
	sort = view_sort(view, view->focus);
	view->scroll[view->focus] = 0;
	if (sort)
		snprintf(view->message, sizeof(view->message), "sorted by %s", sort->name);
	else
		snprintf(view->message, sizeof(view->message),
			 "boxes are not sorted: Tab goes to a table");
	return 0;
}

static unsigned pause_picture(struct view *view, const struct picture *picture)
{
	(void)picture;
	view->is_paused = !view->is_paused;
	return view->is_paused ? 0 : VIEW_TAKE;
}

static unsigned next_pane(struct view *view, const struct picture *picture)
{
	(void)picture;
	view->focus = (view->focus + 1) % PANES;
	return 0;
}

static unsigned next_kinds(struct view *view, const struct picture *picture)
{
	if (!picture->has_off_cpu) {
		snprintf(view->message, sizeof(view->message),
			 "waits are not sampled: start it with --off-cpu");
		return 0;
	}
	view->kinds++;
	return VIEW_TAKE;
}

static unsigned next_window(struct view *view, const struct picture *picture)
{
	(void)picture;
	view->window++;
	return 0;
}

static unsigned choose_thread(struct view *view, const struct picture *picture)
{
	CLEANUP(free) const struct picture_thread **rows = NULL;

	if (view->only_tid) {
		view->only_tid = 0;
		return VIEW_TAKE;
	}
	rows = view_threads(view, picture);
	if (!rows || !picture->thread_count)
		return 0;
	view->only_tid = view->cursor_tid ? view->cursor_tid : rows[0]->tid;
	return VIEW_TAKE;
}

static unsigned open_function(struct view *view, const struct picture *picture)
{
	size_t count;
	CLEANUP(free)
	const struct picture_function **rows = view_functions(view, picture, &count);
	size_t cursor = rows ? view_cursor(view, rows, count) : 0;

	if (!rows || !count)
		return 0;
	function_id_set(&view->cursor_function, rows[cursor]->name, rows[cursor]->module);
	opened_push(&view->opened, rows[cursor]->name, rows[cursor]->module);
	return VIEW_TAKE;
}

static unsigned open_row(struct view *view, const struct picture *picture)
{
	const struct picture_neighbour *row;

	if (view->opened.depth) {
		row = opened_row(picture, view->opened.cursor);
		if (row)
			opened_push(&view->opened, row->name, row->module);
		return row ? VIEW_TAKE : 0;
	}
	if (view->focus == PANE_THREADS)
		return choose_thread(view, picture);
	if (view->focus == PANE_FUNCTIONS)
		return open_function(view, picture);
	snprintf(view->message, sizeof(view->message),
		 "Tab goes to threads and functions, Enter then opens the chosen one");
	return 0;
}

/* The thread that is so many rows further down. */
static void move_cursor(struct view *view, const struct picture *picture, long rows_down)
{
	CLEANUP(free) const struct picture_thread **rows = view_threads(view, picture);
	long at = 0, count = (long)picture->thread_count;

	if (!rows || !count)
		return;
	for (long i = 0; i < count; i++)
		if (rows[i]->tid == view->cursor_tid)
			at = i;
	at = MAX(MIN(at + rows_down, count - 1), 0L);
	view->cursor_tid = rows[at]->tid;
}

static void move_function(struct view *view, const struct picture *picture, long rows_down)
{
	size_t count;
	CLEANUP(free)
	const struct picture_function **rows = view_functions(view, picture, &count);
	long at;

	if (!rows || !count)
		return;
	at = (long)view_cursor(view, rows, count) + rows_down;
	at = MAX(MIN(at, (long)count - 1), 0L);
	function_id_set(&view->cursor_function, rows[at]->name, rows[at]->module);
}

/* Not limited at the end here: the drawing code limits it to the end. */
static void scroll_by(struct view *view, const struct picture *picture, long rows_down)
{
	size_t *scroll = &view->scroll[view->focus];

	if (view->opened.depth)
		opened_move(&view->opened, picture, rows_down);
	else if (view->focus == PANE_THREADS)
		move_cursor(view, picture, rows_down);
	else if (view->focus == PANE_FUNCTIONS)
		move_function(view, picture, rows_down);
	else if (rows_down < 0)
		*scroll -= MIN(*scroll, (size_t)-rows_down);
	else
		*scroll += (size_t)rows_down;
}

static unsigned key_back(struct view *view, const struct picture *picture)
{
	bool had_thread = view->only_tid;

	(void)picture;
	if (view->shows_help) {
		view->shows_help = false;
		return 0;
	}
	if (view->opened.depth) {
		view->opened.depth--;
		view->opened.cursor = 0;
		return VIEW_TAKE;
	}
	view->is_zoomed = false;
	view->filter[0] = '\0';
	view->only_tid = 0;
	return had_thread ? VIEW_TAKE : 0;
}

const struct key_binding key_bindings[] = {
	{ { 'q', 'Q' }, "q", "quit", "leave", .orders = VIEW_QUIT },
	{ { '?', 'h' },
	  "?",
	  "help",
	  "show this page; again: back",
	  .toggles = offsetof(struct view, shows_help) },
	{ { '/' },
	  "/",
	  "filter",
	  "show only functions with this text in name or module",
	  type_filter,
	  .is_of_panes = true },
	{ { '\n', '\r' },
	  "Enter",
	  "open",
	  "open a function (callers, callees, lines) or show one thread alone",
	  open_row },
	{ { 's' },
	  "s",
	  "sort",
	  "sort this pane by the next column",
	  sort_rows,
	  .is_of_panes = true },
	{ { ' ' }, "Space", "pause", "hold the screen still; sampling goes on", pause_picture },
	{ { 'f' },
	  "f",
	  "freeze",
	  "write the samples kept to a file, for limpet report and export",
	  .orders = VIEW_FREEZE },
	{ { '\t' },
	  "Tab",
	  "pane",
	  "go to the next pane: threads, functions, flame view",
	  next_pane,
	  .is_of_panes = true },
	{ { 'z' },
	  "z",
	  "zoom",
	  "show this pane alone; again: all",
	  .toggles = offsetof(struct view, is_zoomed),
	  .is_of_panes = true },
	{ { 'v' }, "v", "view", "on CPU, waiting, runnable, all (with --off-cpu)", next_kinds },
	{ { 'w' },
	  "w",
	  "window",
	  "show the last 10 s, 60 s, all that is kept, 2 s",
	  next_window,
	  .orders = VIEW_TAKE },
	{ { VIEW_KEY_UP, 'k' }, "Up", "", "a row up; k too", .rows_down = -1 },
	{ { VIEW_KEY_DOWN, 'j' }, "Down", "", "a row down; j too", .rows_down = 1 },
	{ { VIEW_KEY_PAGE_UP }, "PgUp", "", "ten rows up", .rows_down = -PAGE_ROWS },
	{ { VIEW_KEY_PAGE_DOWN }, "PgDn", "", "ten rows down", .rows_down = PAGE_ROWS },
	{ { VIEW_KEY_HOME, 'g' }, "Home", "", "the first row; g too", .rows_down = INT32_MIN },
	{ { ESCAPE, VIEW_KEY_BACKSPACE },
	  "Esc",
	  "",
	  "back; no filter, no chosen thread, no zoom; Backspace too",
	  key_back },
	{ { 0 } },
};

/* Only visible characters; the rest of a long text is ignored. */
static void key_type(struct view *view, uint32_t key)
{
	size_t length = strlen(view->filter);

	if (key == VIEW_KEY_BACKSPACE && length)
		view->filter[length - 1] = '\0';
	else if (key >= 0x20 && key < 0x7f && length + 1 < sizeof(view->filter)) {
		view->filter[length] = (char)key;
		view->filter[length + 1] = '\0';
	}
	view->scroll[PANE_FUNCTIONS] = 0;
}

static unsigned edit_filter(struct view *view, uint32_t key)
{
	if (key == '\n' || key == '\r' || key == ESCAPE)
		view->is_typing = false;
	if (key == ESCAPE)
		view->filter[0] = '\0';
	if (view->is_typing)
		key_type(view, key);
	return 0;
}

static bool has_key(const struct key_binding *binding, uint32_t key)
{
	for (size_t i = 0; i < ARRAY_SIZE(binding->keys) && binding->keys[i]; i++)
		if (binding->keys[i] == key)
			return true;
	return false;
}

unsigned view_key(struct view *view, const struct picture *picture, uint32_t key)
{
	view->message[0] = '\0';
	if (view->is_typing)
		return edit_filter(view, key);
	for (const struct key_binding *binding = key_bindings; binding->name; binding++) {
		if (!has_key(binding, key) || (binding->is_of_panes && view->opened.depth))
			continue;
		if (binding->rows_down)
			scroll_by(view, picture, binding->rows_down);
		if (binding->toggles)
			*(bool *)((char *)view + binding->toggles) ^= true;
		return binding->orders | (binding->act ? binding->act(view, picture) : 0);
	}
	return 0;
}
