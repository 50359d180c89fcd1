/*
 * The terminal, by ncurses.  The only code that uses it.
 */
#pragma once

#include "host/core/err.h"
#include "host/top/render/screen.h"

struct terminal;

struct terminal_options {
	bool no_color; /* as NO_COLOR in the environment */
	bool is_ascii;
};

/* Switches the terminal of stdin and stdout to the screen. */
int terminal_open(struct terminal **ret, const struct terminal_options *options,
		  struct err *err) MUST_CHECK;
/* Restores the terminal. */
void terminal_close(struct terminal *terminal);
/* The same when a process ends while its other thread cannot. */
void terminal_restore(void);

/* Its size now; after a signal SIGWINCH it may be another one. */
void terminal_size(struct terminal *terminal, unsigned *ret_width, unsigned *ret_height);
/* Can it show more than ASCII? */
bool terminal_is_ascii(const struct terminal *terminal);
void terminal_draw(struct terminal *terminal, const struct screen *screen);
/* Draws everything again, after another program has written to the terminal. */
void terminal_redraw(struct terminal *terminal);
/* Restores the terminal for the shell, stops this process, and switches again afterwards. */
void terminal_suspend(struct terminal *terminal);
/* The next pending key: a character, or one of enum view_key; VIEW_KEY_NONE: none. */
uint32_t terminal_key(struct terminal *terminal);
