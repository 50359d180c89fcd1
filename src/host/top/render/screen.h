/*
 * A screen as cells, which can be examined without a terminal.  Names of targets are foreign bytes:
 * anything but one visible character becomes '?'.
 */
#pragma once

#include "host/model/samples/frame_languages.h"

#include <stdbool.h>

enum style {
	STYLE_PLAIN,
	STYLE_QUIET,   /* less important */
	STYLE_STRONG,  /* the searched text */
	STYLE_TITLE,   /* of a table */
	STYLE_FOCUS,   /* of the table that keys are for */
	STYLE_CURSOR,  /* the chosen row */
	STYLE_ALERT,   /* something is wrong, or has ended */
	STYLE_BOX,     /* of the flame view: of no language */
	STYLE_BOX_HOT, /* on the hottest path */
	STYLE_MATCH,   /* a match of the filter */
	STYLE_LANGUAGE,
	STYLE_LANGUAGE_HOT = STYLE_LANGUAGE + FRAME_LANGUAGES,
	STYLES = STYLE_LANGUAGE_HOT + FRAME_LANGUAGES,
};

struct cell {
	uint32_t rune; /* 0: the right half of a wide character */
	uint8_t style;
};

struct screen {
	unsigned width, height;
	bool is_ascii; /* nothing but ASCII may be drawn */
	struct cell *cells;
};

/* Blank.  0 or -ENOMEM. */
int screen_init(struct screen *screen, unsigned width, unsigned height, bool is_ascii) MUST_CHECK;
void screen_done(struct screen *screen);

static inline void screen_done_at_scope_end(struct screen *screen)
{
	screen_done(screen);
}

/* Where on the screen something may be drawn: one line, from x on, so wide. */
struct field {
	unsigned y, x, width;
};

/* Draws UTF-8; a long text is cut, which its last cell shows.  Returns the number of cells. */
unsigned screen_put(struct screen *screen, struct field field, enum style style, const char *text);
unsigned screen_format(struct screen *screen, struct field field, enum style style,
		       const char *format, ...) PRINTF_LIKE(4, 5);
/* The same at the right end of the field. */
unsigned screen_put_right(struct screen *screen, struct field field, enum style style,
			  const char *text);
/* Fills the field with blanks. */
void screen_fill(struct screen *screen, struct field field, enum style style);

/* The number of cells of a text. */
unsigned screen_text_width(const struct screen *screen, const char *text);

/* A line as UTF-8, without the blanks at its end; cut to the room. */
void screen_line(const struct screen *screen, unsigned y, char *ret, size_t room);
