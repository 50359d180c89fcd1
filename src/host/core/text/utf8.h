/*
 * UTF-8 by RFC 3629.  Texts of a target may be any bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Replaces a byte that is not UTF-8. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* The length of the well-formed sequence that starts here, 0 when there is none.  A zero ends the
 * text: nothing beyond it is read. */
size_t utf8_length(const unsigned char *at);

#define UTF8_MAX 4

/* Writes a letter by its number, not terminated; how many bytes it has, 0 when there is no such
 * letter. */
size_t utf8_put(char ret[UTF8_MAX], uint32_t letter);

/* Is all of it well-formed? */
bool utf8_is_valid(const char *text);

/* A copy with the replacement for each byte that is not, the caller's to free; NULL: no memory. */
char *utf8_mended(const char *text);
