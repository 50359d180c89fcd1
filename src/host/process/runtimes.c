/*
 * Recognises GPU runtimes by the libraries that are mapped.
 */
#include "host/process/runtimes.h"

unsigned runtimes_find(const struct maps *maps)
{
	unsigned found = 0;

	for (size_t i = 0; i < maps->count; i++)
		found |= runtime_of_file(maps->items[i].path);
	return found;
}

const char *runtime_library_path(const struct maps *maps, const struct runtime_library *library)
{
	for (size_t i = 0; i < maps->count; i++)
		if (runtime_library_is(library, maps->items[i].path))
			return maps->items[i].path;
	return NULL;
}
