/*
 * The terminal, by ncurses.  The only place that knows it.
 */
#pragma once

#include "host/core/err.h"
#include "host/top/render/screen.h"

struct terminal;

struct terminal_options {
	bool no_color; /* NO_COLOR in the environment says the same */
	bool is_ascii;
};

/* Takes the terminal of stdin and stdout. */
int terminal_open(struct terminal **ret, const struct terminal_options *options,
		  struct err *err) MUST_CHECK;
/* Gives it back as it was. */
void terminal_close(struct terminal *terminal);
/* The same on the way out of a process whose other thread does not come to it. */
void terminal_restore(void);

/* Its size now; after a signal SIGWINCH it may be another one. */
void terminal_size(struct terminal *terminal, unsigned *ret_width, unsigned *ret_height);
/* Can it show more than ASCII? */
bool terminal_is_ascii(const struct terminal *terminal);
void terminal_draw(struct terminal *terminal, const struct screen *screen);
/* Everything again, as somebody else has drawn on it. */
void terminal_redraw(struct terminal *terminal);
/* Lends it to the shell, stops this process, and takes it back. */
void terminal_suspend(struct terminal *terminal);
/* The next key that is there: a character, or one of enum view_key; VIEW_KEY_NONE: no more. */
uint32_t terminal_key(struct terminal *terminal);
