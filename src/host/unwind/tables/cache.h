/*
 * Unwind tables on disk, by build id: $XDG_CACHE_HOME/limpet/unwind, or ~/.cache/limpet/unwind.
 * Only folders and files that no other user can write are used; a file that is torn, of another
 * version or made from other bytes is made anew.  After any failure the table is made without a
 * cache.
 */
#pragma once

#include "host/unwind/tables/source.h"
#include "host/unwind/tables/table.h"

/* NULL: there is none that fits. */
struct unwind_table *unwind_cache_load(const unsigned char *build_id, unsigned build_id_size,
				       uint64_t source_fingerprint);
void unwind_cache_store(const unsigned char *build_id, unsigned build_id_size,
			uint64_t source_fingerprint, const struct unwind_table *table);
