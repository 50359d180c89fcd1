/*
 * A folder of ranks where one recording is wanted.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>

bool is_folder(const char *path);

/* Puts the samples of all ranks of a folder into one recording in it.  *ret, its path, is the
 * caller's to free. */
int fleet_ui_merge(const char *folder, char **ret, struct err *err) MUST_CHECK;
