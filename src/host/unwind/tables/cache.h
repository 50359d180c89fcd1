/*
 * Unwind tables on disk, by build id: $XDG_CACHE_HOME/limpet/unwind, or ~/.cache/limpet/unwind.
 * Only folders and files that no other user can write are used; a file that is torn, of another
 * version or made from other bytes is made anew.  After any failure the table is made without a
 * cache.
 */
#pragma once

#include "host/unwind/tables/table.h"

/* NULL: there is none that fits. */
struct unwind_table *unwind_cache_load(const unsigned char *build_id, unsigned build_id_size,
				       uint64_t source_fingerprint);
void unwind_cache_store(const unsigned char *build_id, unsigned build_id_size,
			uint64_t source_fingerprint, const struct unwind_table *table);

/* The folder is kept small: each profiled program leaves a table there, and a hostile one as many
 * as it likes.  Beyond either limit, the least recently used ones are removed, down to three
 * quarters. */
#define CACHE_BYTES_MAX ((uint64_t)512 << 20)
#define CACHE_FILES_MAX 4096u
/* A larger table is not kept. */
#define CACHE_TABLE_MAX ((uint64_t)64 << 20)
/* `folder` is the open folder. */
void unwind_cache_trim(int folder);
