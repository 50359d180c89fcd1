/*
 * Sizes as people write them: 4096, 512K, 100M, 2G.
 */
#pragma once

#include "host/core/err.h"

/* NULL keeps *ret unchanged.  The option's name is for the error. */
int size_parse(const char *option, const char *text, uint64_t *ret, struct err *err) MUST_CHECK;
