/*
 * The lines in which a node part speaks.  Launchers carry text, put labels before it, cut what is
 * long and mix what comes at once: so each line is short, has a number and a checksum, and is found
 * wherever it begins.
 *
 *   limpet1 TAG NUMBER PART CHECKSUM BASE64
 *
 *   TAG       of the node part, 8 digits by chance: lines of many come through one pipe
 *   NUMBER    of the line, from 0, without gaps
 *   PART      '.' a whole message, '<' '=' '>' its first, a middle, its last part, '!' the end
 *   CHECKSUM  CRC-32 of what stands before and behind it
 */
#pragma once

#include "host/core/text/text.h"

#define LINE_MARK      "limpet1 "
#define LINE_SIZE_MAX  900u /* with its end, and room for a label left */
#define LINE_BYTES_MAX 630u

enum line_part {
	LINE_WHOLE = '.',
	LINE_FIRST = '<',
	LINE_MIDDLE = '=',
	LINE_LAST = '>',
	LINE_END = '!',
};

struct line {
	uint32_t tag, number;
	enum line_part part;
	size_t size;
	unsigned char bytes[LINE_BYTES_MAX];
};

/* With its end; how long it is, below LINE_SIZE_MAX. */
size_t line_write(const struct line *line, char ret[LINE_SIZE_MAX]);

/* The line in this text, which has no end, behind whatever label.  False: there is none that is
 * whole; *ret_is_torn says whether one began there. */
bool line_read(struct text text, struct line *ret, bool *ret_is_torn);
