/*
 * Text that a target, a file or another user has chosen: any bytes.  A terminal obeys control
 * characters, an editor reverses lines, a browser runs scripts.  So foreign text is written by
 * these functions only: one table lists the letters that are never written as they are, another one
 * how each format writes them.  (json.c is for JSON, print.h for people.)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum letter_kind {
	LETTER_PLAIN,
	LETTER_CONTROL, /* C0, DEL, C1, direction marks, non-characters */
	LETTER_INVALID, /* a byte that is not UTF-8 */
};

struct letter {
	enum letter_kind kind;
	size_t length;   /* in bytes, at least 1 unless it is the end */
	uint32_t number; /* of a byte that is not UTF-8: its value */
};

/* The letter that begins here; the zero at the end has no length. */
struct letter letter_at(const char *at);
/* The same in text of so many bytes, which needs no zero. */
struct letter letter_within(const char *at, size_t size);

/* Shown in place of a letter that is not plain. */
#define FOREIGN_SHOWN "?"

enum foreign_format {
	FOREIGN_TEXT,   /* plain text on one line: terminals, perf script */
	FOREIGN_XML,    /* content and attributes of SVG and HTML */
	FOREIGN_CSV,    /* between quotes; formulas get an apostrophe */
	FOREIGN_FOLDED, /* a name in a folded stack */
};

void foreign_write(FILE *out, enum foreign_format format, const char *text);

/* As FOREIGN_TEXT into a buffer, cut between letters; returns it. */
char *foreign_copy(char *buffer, size_t capacity, const char *text);

/* In place, as FOREIGN_TEXT, but for the letters that are kept. */
void foreign_clean(char *text, const char *kept);
