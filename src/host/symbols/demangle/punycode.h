/*
 * Letters that are not ASCII, in letters that are (RFC 3492).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* As UTF-8, terminated.  The last delimiter is between the ASCII part and the rest.  False for an
 * invalid name, or without room. */
bool punycode_decode(const char *bytes, size_t size, char delimiter, char *ret, size_t room);
