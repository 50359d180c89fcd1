/*
 * Work of HIP programs for the ring, and calls of HIP that end what its reports are about.
 */
#pragma once

#include "target/amd/tables/call.h"

/* The ring wants commands from now on: returns the domains that are traced by reports, as bits. On
 * limpet's threads; may be repeated. */
uint32_t hip_ring_begin(bool kernels, bool copies);
/* Waits for reports, up to a limit. Returns the number of missing reports. */
uint32_t hip_ring_end(void);

/* After a HIP call has returned: commands of a failed call are never executed. */
void hip_after_call(struct call_frame *frame, uint64_t end);

/* In a forked child. */
void hip_adopt(void);
