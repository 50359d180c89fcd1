/*
 * The page as limpet carries it: gzipped files.
 */
#pragma once

#include <stddef.h>

struct page_part {
	const char *path, *type;
	const unsigned char *bytes, *end;
};

/* NULL: there is none of that path. */
const struct page_part *page_find(const char *path, size_t size);

static inline size_t page_size(const struct page_part *part)
{
	return (size_t)(part->end - part->bytes);
}
