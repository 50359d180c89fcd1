/*
 * Descriptors: how many we may have, and writing to one.
 */
#pragma once

#include "shared/base/macros.h"

/* As many as we may allow ourselves. */
void descriptors_raise_limit(void);

/* Writes all of it, through interruptions and short writes; 0 or -errno. */
int descriptor_write(int fd, const void *bytes, size_t size) MUST_CHECK;
