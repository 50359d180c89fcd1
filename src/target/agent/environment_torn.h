/*
 * A setenv that adds a variable counts the entries of the array that it finds and then copies as
 * many from the one that it finds a moment later.  Where we have exchanged the two in between, it
 * copies too few of them, or its own lies behind the end.
 */
#pragma once

#include "target/agent/environment_view.h"

size_t entries_count(char **array);
bool entries_have(char **list, const char *entry);

/* After an array with `counted` entries was exchanged for `put` (its copy is read, not its array):
 * makes whole what came of that.  The array that is current then, of ours unless the application
 * was faster. */
char **environment_mend(const struct environment_access *access, size_t counted,
			const struct environment_view *put);

/* The same where an array of ours was put, which can be read at any time. */
char **environment_mend_ours(const struct environment_access *access, size_t counted, char **ours);
