/*
 * The functions to hook, by name and by patterns. Domains fill the list, backends query it.
 */
#pragma once

#include "target/hooks/hook.h"

#define WANTS_PATTERNS_MAX 64

void wants_clear(void);

/* False if there is no room. */
bool wants_add(const struct traced *traced);

/* "LIBRARY:SYMBOL" of `length` letters, both with * and ?; a pattern without colon matches the
 * symbol in any library. The text must stay. The first match counts; a NULL `traced` excludes
 * functions. False if there is no room. */
bool wants_add_pattern(const struct traced *traced, const char *text, size_t length);

/* True if the symbol may be traced. Cheap; called for every import of every module. */
bool wants_symbol(const char *symbol);

/* Returns how to trace this function, or NULL. library: its implementation; is_libc: it is libc's
 * function, not another of the same name. */
const struct traced *wants_find(const char *symbol, const char *library, bool is_libc);

/* True if the text matches a pattern of `length` letters. */
bool pattern_matches(const char *pattern, size_t length, const char *text);
