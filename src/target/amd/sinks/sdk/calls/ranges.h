/*
 * Ranges of roctx: contexts get each range as one event, from its begin to its end.
 */
#pragma once

#include <stdint.h>

/* After calls of roctx that make ranges, or end them. */
struct call_frame;
void range_after(struct call_frame *frame, uint64_t end);

/* No context wants ranges any more: discards those that are open. */
void ranges_forget(void);
