/*
 * Bytes as a gzip file.
 */
#pragma once

#include "host/core/bytes.h"

#define GZIP_COMMENT "limpet" /* in each, by which our own files are known */

/* Behind what is there.  0 or -ENOMEM. */
int gzip_put(const struct bytes *plain, struct bytes *ret) MUST_CHECK;
