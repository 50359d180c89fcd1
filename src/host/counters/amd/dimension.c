/*
 * Names of dimensions.
 */
#include "host/counters/amd/dimension.h"

#include <errno.h>

static const struct {
	const char *name, *brief;
} names[DIMENSIONS] = {
	[DIMENSION_XCC] = { "DIMENSION_XCC", "XCD" },
	[DIMENSION_AID] = { "DIMENSION_AID", "AID" },
	[DIMENSION_SHADER_ENGINE] = { "DIMENSION_SHADER_ENGINE", "SE" },
	[DIMENSION_SHADER_ARRAY] = { "DIMENSION_SHADER_ARRAY", "SA" },
	[DIMENSION_WGP] = { "DIMENSION_WGP", "WGP" },
	[DIMENSION_INSTANCE] = { "DIMENSION_INSTANCE", "INSTANCE" },
};

const char *dimension_name(enum counter_dimension dimension)
{
	return names[dimension].name;
}

int dimension_find(struct text name)
{
	for (int i = 0; i < DIMENSIONS; i++)
		if (text_equals(name, names[i].name) || text_equals(name, names[i].brief))
			return i;
	return -ENOENT;
}
