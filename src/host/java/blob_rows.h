/*
 * Rows of one blob of HotSpot's code cache, which are kept as long as it lives.
 */
#pragma once

#include "host/java/heap.h"
#include "host/unwind/rules/rows.h"

struct blob_rows {
	struct java_blob blob;
	struct rows rows; /* from code_begin on */
	uint64_t first_seen_ns;
};

/* Reads the code and makes the rows; a blob that cannot be read has a row that says so.  -ENOMEM.
 */
int blob_rows_make(struct blob_rows *blob, const struct java_memory *memory,
		   const struct java_layout *layout) MUST_CHECK;
