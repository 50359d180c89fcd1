/*
 * The user's choices, and the keys for them.
 */
#pragma once

#include "host/top/picture.h"

#define OPENED_DEPTH 16u

/* Which function: the same name in the same module is the same one. */
struct function_id {
	char name[256], module[128];
};

/* The page of one function: its callers, callees and lines.  Going back closes the functions opened
 * from there one by one. */
struct opened {
	struct function_id path[OPENED_DEPTH]; /* the page is that of the last one */
	unsigned depth;                        /* 0: none is opened */
	size_t cursor;                         /* of callers, then callees */
};

enum pane { PANE_THREADS, PANE_FUNCTIONS, PANE_FLAME, PANES };

struct view {
	enum pane focus;
	bool is_zoomed; /* the focused pane has the screen for itself */
	bool is_paused;
	bool shows_help;
	bool is_typing; /* the filter */
	char filter[64];
	unsigned sort[PANES];               /* which one: view_sort() */
	size_t scroll[PANES];               /* rows above the first one that is shown */
	pid_t cursor_tid;                   /* the chosen thread; 0: the first */
	struct function_id cursor_function; /* the chosen function; "": the first */
	struct opened opened;
	pid_t only_tid;         /* samples of this thread only; 0: of all */
	unsigned kinds, window; /* which ones: view_kinds(), view_window_ns() */
	char message[256];      /* until the next key */
};

/* Keys that are no characters. */
enum view_key {
	VIEW_KEY_UP = 0x110000,
	VIEW_KEY_DOWN,
	VIEW_KEY_PAGE_UP,
	VIEW_KEY_PAGE_DOWN,
	VIEW_KEY_HOME,
	VIEW_KEY_BACKSPACE,
	VIEW_KEY_NONE,
};

/* Actions besides drawing again. */
enum view_order {
	VIEW_QUIT = 1 << 0,
	VIEW_TAKE = 1 << 1,   /* another picture, at once */
	VIEW_FREEZE = 1 << 2, /* write the samples to a file */
};

struct key_binding {
	uint32_t keys[4]; /* each of them; 0: no more */
	const char *name, *label;
	const char *help;
	unsigned (*act)(struct view *view, const struct picture *picture); /* NULL: */
	long rows_down;   /* moves the cursor; 0: nothing */
	size_t toggles;   /* the offset of a bool in the view; 0: nothing */
	unsigned orders;  /* of enum view_order */
	bool is_of_panes; /* there are none on the page of a function */
};

/* All keys, in the order in which they are offered; ends with one that has no name. */
extern const struct key_binding key_bindings[];

/* The usual view. */
void view_init(struct view *view);
/* Bits of enum view_order. */
unsigned view_key(struct view *view, const struct picture *picture, uint32_t key);

/* The samples that are shown. */
unsigned view_kinds(const struct view *view);
/* 0: all that is kept. */
uint64_t view_window_ns(const struct view *view);

struct pane_sort {
	const char *name;
	int (*compare)(const void *left, const void *right); /* of pointers to rows */
};

/* The sort orders of a pane's rows; NULL: none. */
const struct pane_sort *view_sort(const struct view *view, enum pane pane);

/* The rows that are shown, sorted; the caller's to free.  NULL: no memory. */
const struct picture_thread **view_threads(const struct view *view, const struct picture *picture);
const struct picture_function **view_functions(const struct view *view,
					       const struct picture *picture, size_t *ret_count);
/* The row of the chosen function, 0 where it is not there. */
size_t view_cursor(const struct view *view, const struct picture_function **rows, size_t count);
/* Does the filter find this? */
bool view_finds(const struct view *view, const char *text);

bool function_id_is(const struct function_id *id, const char *name, const char *module);
void function_id_set(struct function_id *id, const char *name, const char *module);

/* "" where none is opened. */
const char *opened_name(const struct opened *opened);
const char *opened_module(const struct opened *opened);

void opened_push(struct opened *opened, const char *name, const char *module);
/* Callers and callees, of which `row` counts through both; NULL: there is none. */
const struct picture_neighbour *opened_row(const struct picture *picture, size_t row);
void opened_move(struct opened *opened, const struct picture *picture, long rows_down);
