/*
 * Runs on the control thread. The application's array may be freed, so the kernel reads it.
 */
#include "target/agent/environment_torn.h"

#include <string.h>

bool entries_have(char **list, const char *entry)
{
	while (*list && *list != entry)
		list++;
	return *list != NULL;
}

size_t entries_count(char **array)
{
	size_t count = 0;

	while (array[count])
		count++;
	return count;
}

/* True if `counted` entries were counted in one array, and as many copied from `put`. */
static bool is_torn(char **read, size_t counted, const struct environment_view *put)
{
	size_t common = MIN(counted, put->count);

	return counted != put->count && read[counted] && !read[counted + 1] &&
	       !memcmp(read, put->copy, common * sizeof(char *)) &&
	       (counted < put->count || !read[put->count]) &&
	       !entries_have(put->copy, read[counted]);
}

char **environment_mend(const struct environment_access *access, size_t counted,
			const struct environment_view *put)
{
	char **torn = environment_now(access), **read, **array = NULL, **result = put->array;

	if (torn == put->array || !torn)
		return result;
	read = environment_memory((counted + 2) * sizeof(char *));
	if (read && environment_read(torn, read, counted + 2) && is_torn(read, counted, put))
		array = environment_memory((put->count + 2) * sizeof(char *));
	if (array) {
		memcpy(array, put->copy, put->count * sizeof(char *));
		array[put->count] = read[counted];
		if (environment_exchange(access, torn, array))
			result = array;
		else
			environment_memory_free(array, (put->count + 2) * sizeof(char *));
	}
	environment_memory_free(read, (counted + 2) * sizeof(char *));
	return result;
}

char **environment_mend_ours(const struct environment_access *access, size_t counted, char **ours)
{
	return environment_mend(access, counted,
				&(struct environment_view){ ours, ours, entries_count(ours) });
}
