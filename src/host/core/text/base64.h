/*
 * Bytes as base64, with padding (RFC 4648, section 4).
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* The length of so many bytes. */
#define BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4)

/* Writes BASE64_SIZE(size) characters, not terminated. */
void base64_encode(char *ret, const void *bytes, size_t size);

/* False where the text is no base64, or stands for more than `room` bytes. */
bool base64_decode(const char *text, size_t length, void *ret, size_t room, size_t *ret_size);
