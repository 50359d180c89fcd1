/*
 * Paths as texts.
 */
#pragma once

#include <string.h>

/* What stands behind the last slash; the path itself where that is nothing. */
static inline const char *path_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
