/*
 * Judges stacks found by frame pointers alone: whether, by the unwind tables, each function in them
 * keeps one.
 */
#pragma once

#include "shared/wire/sample.h"

#include "host/unwind/space.h"

/* How a chain of return addresses ended, innermost first, and how many of them are callers.  The
 * walk stopped after `most`. */
enum stack_end linked_frames_end(const struct space *space, const uint64_t *frames, size_t count,
				 size_t most, size_t *ret_count);
