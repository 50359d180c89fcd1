/*
 * Kernels and copies of HIP programs, as the runtime itself reports them.
 *
 * Inside the call that makes a command, the runtime asks limpet's callback whether to report the
 * command, and reports it after the device has executed it. The report does not identify its
 * question: see launches.h.
 */
#pragma once

#include "target/amd/tables/call.h"

struct agent_table;

/* The ring wants commands from now on: returns the domains that are traced by reports, as bits. On
 * limpet's threads; may be repeated. */
uint32_t hip_ring_begin(bool kernels, bool copies);
/* Waits for reports, up to a limit. Returns the number of missing reports. */
uint32_t hip_ring_end(void);

/* For registration.c: does anybody want reports? Called before and after HIP has limpet's callback;
 * false: no memory. */
bool hip_is_needed(void);
bool hip_open(const struct agent_table *hip);
void hip_close(void);
/* HIP's callback: at a launch, decides whether HIP reports it; later, receives the report. */
int hip_on_activity(uint32_t domain, uint32_t command, void *data);

/* Is a thread of HIP in the callback? */
bool hip_is_inside(void);

/* After a HIP call has returned: commands of a failed call are never executed. */
void hip_after_call(struct call_frame *frame, uint64_t end);

/* In a forked child. */
void hip_adopt(void);
