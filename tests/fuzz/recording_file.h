/*
 * A recording from bytes that say anything.  The first one says in which form the rest comes: the
 * file as it is; or its chunks with checksums that fit, so that what lies behind them is looked at
 * too; or only the payloads, each {kind, length, bytes}.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A descriptor. */
int recording_file_make(const uint8_t *bytes, size_t size);
