/*
 * Bytes as a gzip file.
 */
#pragma once

#include "host/core/bytes.h"

#define GZIP_COMMENT "limpet" /* in each: marks limpet's own files */

/* Appends to *ret.  0 or -ENOMEM. */
int gzip_put(const struct bytes *plain, struct bytes *ret) MUST_CHECK;
