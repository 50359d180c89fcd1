/*
 * The runtimes that may register, as data.
 */
#pragma once

#include <stdbool.h>

#define NAMES_COUNT 10

/* The index of a name in the list, which is part of the binary interface, or -ENOENT. */
int names_find(const char *name);

/* This library's copy of the name: the caller's may be freed. */
const char *names_text(int runtime);

/* Is this path that of a library which may register under the name? */
bool names_match_file(int runtime, const char *path);
