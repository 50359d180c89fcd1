/*
 * The call stack by frame pointers, from inside.
 */
#pragma once

#include "shared/base/macros.h"

/* How many of `count` words, less than a page, are there; the page of the first one's predecessor
 * is. */
unsigned stack_readable(const uint64_t *words, unsigned count);

/* Return addresses, innermost first, from a frame that begins with the caller's frame pointer and a
 * return address; how many.  Memory that is not there ends the stack. */
unsigned stack_collect(const uint64_t *link, uint64_t *ret, unsigned room);
