/*
 * A setenv that adds a variable counts the entries of one array and then copies as many from the
 * array that is current a moment later. If limpet has exchanged the array in between, it copies too
 * few entries, or puts its own behind the end.
 */
#pragma once

#include "target/agent/environment_view.h"

size_t entries_count(char **array);
bool entries_have(char **list, const char *entry);

/* After an array with `counted` entries was replaced by `put` (reads its copy, not its array):
 * repairs such a torn array. Returns the then current array, limpet's unless the application was
 * faster. */
char **environment_mend(const struct environment_access *access, size_t counted,
			const struct environment_view *put);

/* Likewise for an array of limpet's, which can be read at any time. */
char **environment_mend_ours(const struct environment_access *access, size_t counted, char **ours);
