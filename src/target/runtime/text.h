/*
 * Text helpers for code inside the target, which must not call libc.
 */
#pragma once

#include <stddef.h>

/* Appends to a text of `room` bytes that ends at `at`; cuts the rest; returns the new end. */
size_t text_add(char *text, size_t room, size_t at, const char *more);
size_t text_add_number(char *text, size_t room, size_t at, unsigned long number);

size_t text_length(const char *text);
_Bool text_equal(const char *a, const char *b);

/* Sets the text to the reason; returns the code. */
int text_fail(char *text, size_t room, int code, const char *reason);

/* Appends "NAME: REASON" to the text. */
void text_add_complaint(char *text, size_t room, const char *name, const char *reason);
