/*
 * UTF-8 as RFC 3629 has it.  What comes from a target may be any bytes.
 */
#pragma once

#include <stddef.h>

/* What stands for a byte that is not UTF-8. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* The length of the well-formed sequence that starts here, 0 when there is none.  A zero ends the
 * text: nothing beyond it is read. */
size_t utf8_length(const unsigned char *at);
