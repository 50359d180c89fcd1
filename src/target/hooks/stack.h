/*
 * Walks the calling thread's stack by frame pointers.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* Returns how many of `count` words, less than a page, are readable; the word before them is. */
unsigned stack_readable(const uint64_t *words, unsigned count);

/* True if `size` bytes, less than a page, can be read at an address further up than `near`, an
 * address in the caller's frame. Memory near that counts as the same stack; other memory is probed,
 * or counts as unreadable if probes are not allowed. */
bool stack_is_there(const void *address, size_t size, const void *near);

/* True if this word can be read. It may be on any stack, even an unmapped one. */
bool stack_has_word(const volatile uint64_t *word);

/* Collects return addresses, innermost first, starting from a frame that begins with the caller's
 * frame pointer and a return address; returns their number. Unreadable memory ends the stack. */
unsigned stack_collect(const uint64_t *link, uint64_t *ret, unsigned room);
