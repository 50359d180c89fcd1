/*
 * Work of devices: kernels and copies, as HIP reports them to a registered callback.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* Does any context of these tools (bits) want work? */
bool work_is_needed(uint32_t tools);

/* HIP's callback: at a launch, decides whether HIP reports it; later, receives the report. */
int work_on_activity(uint32_t domain, uint32_t command, void *data);

/* A call in which HIP has called back is over; if it failed, its launches are dropped. True: other
 * launches of the call are still to be reported. */
bool work_end_call(uint64_t internal, bool has_failed);

/* Is a thread of HIP in work_on_activity()? */
bool work_is_inside(void);

void work_adopt(void);
