/*
 * The command line of rocprofv3, and its help, made from the table of settings.
 */
#pragma once

#include "host/rocprofv3/settings.h"

#include <stdio.h>

/* argv ends with NULL and is without the program's name.  -EINVAL or -ENOTSUP: err names the
 * refused option. */
int arguments_read(struct profile *profile, char **argv, struct err *err) MUST_CHECK;

void help_print(FILE *out);

/* -L: what limpet can trace and count, and what not.  folder: of definitions of counters; NULL: as
 * installed. */
void help_list(FILE *out, const char *folder);
