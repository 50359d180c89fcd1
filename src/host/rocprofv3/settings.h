/*
 * All settings of AMD's rocprofv3, in one table: for options, keys of input files and variables.
 * Unsupported ones have a line too, with the reason.
 */
#pragma once

#include "host/rocprofv3/setters.h"

extern const struct setting settings[];
extern const size_t setting_count;

/* With dashes or underscores alike; NULL when there is none. */
const struct setting *setting_find(const char *name, size_t length);
const struct setting *setting_by_letter(char letter);
bool setting_is_refused(const struct setting *setting);

/* Makes a setting.  The texts must live as long as the profile. */
int setting_make(struct profile *profile, const struct setting *setting, const char *const *values,
		 size_t count, struct err *err) MUST_CHECK;
