/*
 * Lists of rows that are found by two numbers.
 */
#pragma once

#include "host/core/table.h"

/* Zero is empty. */
struct row_index {
	struct table numbers; /* of the rows, and one */
	size_t room;
};

struct row_key {
	uint64_t a, b;
};

/* The row of a key; a new one is zeroed, and the last of the list.  `list` is the address of the
 * pointer to rows of that size, which move when one is added.  NULL: no memory. */
void *row_find(struct row_index *index, struct row_key key, void *list, uint32_t *count,
	       size_t size);

/* qsort(), also of no rows. */
void rows_sort(void *rows, size_t count, size_t size, int (*compare)(const void *, const void *));
