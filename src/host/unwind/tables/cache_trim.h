/*
 * Keeps the folder of unwind tables small: each profiled program leaves one there, and a hostile
 * one as many as it likes.
 */
#pragma once

#include "shared/base/macros.h"

/* Beyond either limit, the least recently used ones are removed, down to three quarters. */
#define CACHE_BYTES_MAX ((uint64_t)512 << 20)
#define CACHE_FILES_MAX 4096u
/* A larger table is not kept. */
#define CACHE_TABLE_MAX ((uint64_t)64 << 20)

/* `folder` is the open folder. */
void unwind_cache_trim(int folder);

/* Notes that a table was used. */
void unwind_cache_touch(int fd);
