/*
 * What devices do: kernels and copies, as HIP reports them to the one who asks it to.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* Do contexts of these tools (bits) want to know? */
bool work_is_needed(uint32_t tools);

/* Called by HIP: it asks whether something is to be reported, or reports it. */
int work_on_activity(uint32_t domain, uint32_t command, void *data);

/* A call in which HIP has asked is over; where it failed, what was asked comes to nothing.  True:
 * the rest of what it began is still to be reported. */
bool work_end_call(uint64_t internal, bool has_failed);

/* Is a thread of HIP's in our code? */
bool work_is_inside(void);

void work_adopt(void);
