/*
 * Letters that are not ASCII, in letters that are (RFC 3492).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* As UTF-8, terminated.  The last delimiter stands between what was ASCII and the rest.  False when
 * it makes no sense or has no room. */
bool punycode_decode(const char *bytes, size_t size, char delimiter, char *ret, size_t room);
