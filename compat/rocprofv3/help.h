/*
 * The help of rocprofv3, made from the table of settings.
 */
#pragma once

#include <stdio.h>

void help_print(FILE *out);

/* -L: what limpet can trace and count, and what not.  folder: of definitions of counters; NULL: as
 * installed. */
void help_list(FILE *out, const char *folder);
