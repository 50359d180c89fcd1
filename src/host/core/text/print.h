/*
 * printf() for people.  What %s brings is foreign text and is shown without control characters
 * (foreign.h); only the format itself is ours, with its line ends.  Everything of limpet's that may
 * come to a terminal goes through here; tools/check-words.py sees to it.
 *
 * Known: flags, width and precision, the lengths of integers, and d i u x X o c s f e g p %. Widths
 * of %s count letters, precisions count bytes, as ever.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdarg.h>
#include <stdio.h>

void print(FILE *out, const char *format, ...) PRINTF_LIKE(2, 3);

/* A text of several lines, which are kept. */
void print_lines(FILE *out, const char *text);

/* As print() into a buffer, cut to it.  Never allocates. */
void print_into(char *buffer, size_t room, const char *format, ...) PRINTF_LIKE(3, 4);
void print_list(char *buffer, size_t room, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));
