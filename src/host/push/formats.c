/*
 * The table of formats.
 */
#include "host/push/format.h"

#include <errno.h>
#include <string.h>

static const struct push_format *const formats[] = { &push_format_pyroscope, &push_format_otlp };

const struct push_format *push_format_find(const char *name, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	err_set(err, -EINVAL, "--format: there is no '%s'", name);
	err_fix(err, "--format %s, or %s", formats[0]->name, formats[1]->name);
	err_exit(err, EXIT_USAGE);
	return NULL;
}
