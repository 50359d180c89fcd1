/*
 * The command line of rocprofv3.
 */
#pragma once

#include "settings.h"

/* argv ends with NULL and does not hold the program's name.  -EINVAL or -ENOTSUP: what is refused
 * is said by name. */
int arguments_read(struct profile *profile, char **argv, struct err *err) MUST_CHECK;
