/*
 * Copies of what an attacher handed over: its pointers may be garbage, and the process that they
 * are in must not pay for that.
 */
#pragma once

#include "shared/base/macros.h"

#define GUARDED_MAX (1u << 20) /* bytes of one list of variables or tools */

/*
 * Copies a text, or a list of variables (uint32_t count, then count times "name\0value\0"), into
 * memory of malloc.  NULL with errno: EFAULT when it cannot be read, EINVAL when it makes no
 * sense, E2BIG when it does not end in time, EPERM where looking is forbidden.
 */
char *guarded_text(const char *text) MUST_CHECK;
char *guarded_variables(const char *buffer) MUST_CHECK;
