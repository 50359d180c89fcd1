/*
 * Rows of one blob of HotSpot's code cache, which are kept as long as it lives.
 */
#pragma once

#include "host/java/heap.h"
#include "host/unwind/rules/rows.h"

struct blob_rows {
	struct java_blob blob;
	struct rows rows; /* from code_begin on */
	uint64_t sum;     /* of their input */
	uint64_t first_seen_ns;
	bool is_settled; /* it was read long enough after that to be whole */
};

/* Reads the code and makes the rows; a blob that cannot be read has a row that marks it so.
 * `before`: the same blob as last read, or NULL; if the sums are equal, its rows are moved.
 * -ENOMEM. */
int blob_rows_make(struct blob_rows *blob, struct blob_rows *before,
		   const struct java_memory *memory, const struct java_layout *layout) MUST_CHECK;
