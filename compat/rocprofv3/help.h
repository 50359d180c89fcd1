/*
 * What rocprofv3 says of itself, made from the table of settings.
 */
#pragma once

#include <stdio.h>

void help_print(FILE *out);

/* -L: what can be traced and counted, and what cannot.  folder: of definitions of counters; NULL:
 * as installed. */
void help_list(FILE *out, const char *folder);
