/*
 * Descriptors: their limit, and complete writes.
 */
#pragma once

#include "shared/base/macros.h"

/* Raises the soft limit to the hard one. */
void descriptors_raise_limit(void);

/* Writes all of it, through interruptions and short writes; 0 or -errno. */
int descriptor_write(int fd, const void *bytes, size_t size) MUST_CHECK;
