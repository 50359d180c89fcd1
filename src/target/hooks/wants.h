/*
 * What is to be hooked: functions by name, and patterns of names.  Filled by the domains, asked by
 * the backends.
 */
#pragma once

#include "target/hooks/hook.h"

#define WANTS_PATTERNS_MAX 64

void wants_clear(void);

/* False when there is no room. */
bool wants_add(const struct traced *traced);

/* "LIBRARY:SYMBOL" of `length` letters, both with * and ?; a pattern without colon is a symbol of
 * any library.  The text must stay.  The first that matches counts; without traced: this is not
 * wanted.  False when there is no room. */
bool wants_add_pattern(const struct traced *traced, const char *text, size_t length);

/* Could this symbol be wanted?  Cheap; asked for every import of every module. */
bool wants_symbol(const char *symbol);

/* What is wanted of this function, or NULL.  library: where it is implemented; is_libc: it is the
 * one that libc's manual describes, and not another of the same name. */
const struct traced *wants_find(const char *symbol, const char *library, bool is_libc);

/* Does a text match a pattern of `length` letters? */
bool pattern_matches(const char *pattern, size_t length, const char *text);
