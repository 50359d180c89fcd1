/*
 * Whether the calling thread has the rights of the program.
 */
#pragma once

#include <stdbool.h>

/* Compares with the first thread: ids, groups, capabilities, filters.  False also where /proc does
 * not tell. */
bool has_same_rights(void);
