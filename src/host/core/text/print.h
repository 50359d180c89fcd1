/*
 * printf() for people.  Arguments of %s are foreign text and are shown without control characters
 * (foreign.h); only the format itself is limpet's, with its line ends.  All output that may reach a
 * terminal is written here; tools/check-words.py checks that.
 *
 * Known: flags, width and precision, the lengths of integers, and d i u x X o c s f e g p %. Widths
 * of %s count letters, precisions count bytes, as ever.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdarg.h>
#include <stdio.h>

void print(FILE *out, const char *format, ...) PRINTF_LIKE(2, 3);

/* For names from targets, "%" PRINAME: only very long ones are cut. */
#define PRINAME ".159s"

/* A sentence about a number, which stands for '#', with words that depend on it: "# record{|s}
 * {was|were} dropped\n".  Of 0 nothing is printed. */
void print_counted(FILE *out, uint64_t count, const char *text);

/* A text of several lines, which are kept. */
void print_lines(FILE *out, const char *text);

/* Each line of the text, behind the prefix. */
void print_prefixed(FILE *out, const char *prefix, const char *lines);

/* As print() into a buffer, cut to it.  Never allocates. */
void print_into(char *buffer, size_t room, const char *format, ...) PRINTF_LIKE(3, 4);
/* The same behind the text that is in it. */
void print_append(char *buffer, size_t room, const char *format, ...) PRINTF_LIKE(3, 4);
void print_list(char *buffer, size_t room, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));
