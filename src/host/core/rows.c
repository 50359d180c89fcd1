#include "host/core/rows.h"

#include "host/core/room.h"

#include <stdlib.h>
#include <string.h>

void *row_find(struct row_index *index, struct row_key key, void *list, uint32_t *count,
	       size_t size)
{
	bool is_new;
	struct table_entry *entry = table_make(&index->numbers, key.a, key.b, &is_new);

	if (!entry || (!entry->value && make_room(list, *count, &index->room, size)))
		return NULL;
	if (!entry->value) {
		memset(*(char **)list + *count * size, 0, size);
		entry->value = ++*count;
	}
	return *(char **)list + (entry->value - 1) * size;
}

void rows_sort(void *rows, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count)
		qsort(rows, count, size, compare);
}
