/*
 * The version of a C library, from the text it carries inside.
 */
#pragma once

#include "host/process/libc/libc.h"

/* Fills in the version of *ret, whose flavour is set; leaves 0.0.0 when it is not found. */
void libc_version_find(const struct maps *maps, const struct mapping *library, int memory,
		       struct libc_cache *cache, struct libc *ret);

/* The same in a piece of the library's bytes; true when it was there. */
bool libc_version_search(const char *bytes, size_t size, struct libc *ret);
