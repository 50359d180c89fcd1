/*
 * The command line of rocprofv3.
 */
#pragma once

#include "host/rocprofv3/settings.h"

/* argv ends with NULL and is without the program's name.  -EINVAL or -ENOTSUP: err names the
 * refused option. */
int arguments_read(struct profile *profile, char **argv, struct err *err) MUST_CHECK;
