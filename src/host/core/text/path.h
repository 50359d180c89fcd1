/*
 * Paths as texts.
 */
#pragma once

#include <string.h>

/* The part after the last slash; the whole path if that is empty. */
static inline const char *path_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
