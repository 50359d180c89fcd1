/*
 * On the host and in the target: no libc.
 */
#include "shared/counters/dimension.h"

#include <stdbool.h>

const struct dimension_name dimension_names[DIMENSIONS] = {
	[DIMENSION_XCC] = { "DIMENSION_XCC", "XCD" },
	[DIMENSION_AID] = { "DIMENSION_AID", "AID" },
	[DIMENSION_SHADER_ENGINE] = { "DIMENSION_SHADER_ENGINE", "SE" },
	[DIMENSION_SHADER_ARRAY] = { "DIMENSION_SHADER_ARRAY", "SA" },
	[DIMENSION_WGP] = { "DIMENSION_WGP", "WGP" },
	[DIMENSION_INSTANCE] = { "DIMENSION_INSTANCE", "INSTANCE" },
};

static bool is_same(const char *name, size_t length, const char *text)
{
	size_t i = 0;

	while (i < length && text[i] && name[i] == text[i])
		i++;
	return i == length && !text[i];
}

unsigned dimension_find(const char *name, size_t length)
{
	unsigned i = 0;

	while (i < DIMENSIONS && !is_same(name, length, dimension_names[i].name) &&
	       !is_same(name, length, dimension_names[i].brief))
		i++;
	return i;
}
