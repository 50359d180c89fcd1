/*
 * The call stack by frame pointers, from inside.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* How many of `count` words, less than a page, are there; the page of the first one's predecessor
 * is. */
unsigned stack_readable(const uint64_t *words, unsigned count);

/* Can so many bytes, less than a page, be read at an address further up than `near`, where the
 * caller stands?  What is near is taken to be of the same stack; what is not
 * cannot where that must not be tried. */
bool stack_is_there(const void *address, size_t size, const void *near);

/* Can this word be read?  It may be on any stack, also near on one that is gone. */
bool stack_has_word(const volatile uint64_t *word);

/* Return addresses, innermost first, from a frame that begins with the caller's frame pointer and a
 * return address; how many.  Memory that is not there ends the stack. */
unsigned stack_collect(const uint64_t *link, uint64_t *ret, unsigned room);
