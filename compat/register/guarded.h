/*
 * Copies of an attacher's arguments: its pointers may be garbage, and must not crash the process.
 */
#pragma once

#include "shared/base/macros.h"

#define GUARDED_MAX (1u << 20) /* bytes of one list of variables or tools */

/*
 * Copies a text, or a list of variables (uint32_t count, then count times "name\0value\0"), into
 * memory of malloc.  NULL with errno: EFAULT when it cannot be read, EINVAL when it is invalid,
 * E2BIG when it is too long, EPERM where reading is forbidden.
 */
char *guarded_text(const char *text) MUST_CHECK;
char *guarded_variables(const char *buffer) MUST_CHECK;
