/*
 * The lines of /proc/PID/mountinfo.  The text is foreign: an incomplete line has empty members.
 */
#pragma once

#include "host/core/text/text.h"

struct mount {
	uint64_t number, major, minor;
	struct text root, point; /* what of the file system is mounted, and where */
	struct text type, options;
};

/* Parses the next line that begins with numbers; false: there is none. */
bool mountinfo_next(struct text *rest, struct mount *ret);
/* Whether an option, or the value of an option that begins with `key`, is among those of the file
 * system; *ret_value is what follows the key. */
bool mount_find_option(const struct mount *mount, const char *key, struct text *ret_value);
