/*
 * Kernels and copies of HIP programs, as the runtime itself reports them.
 *
 * Inside the call that makes a command, the runtime asks limpet's callback whether to report the
 * command, and reports it after the device has executed it. The report does not identify its
 * question: see launches.h.
 */
#pragma once

#include "target/amd/hip/launches.h"

struct agent_table;

/* For registration.c: does any sink want reports? Called before and after HIP has limpet's
 * callback; false: no memory. */
bool hip_is_needed(void);
bool hip_open(const struct agent_table *hip);
void hip_close(void);
/* HIP's callback: at a launch, decides whether HIP reports it; later, receives the report. */
int hip_on_activity(uint32_t domain, uint32_t command, void *data);

/* Is a thread of HIP in the callback? */
bool hip_is_inside(void);

/* What the ring wants to be reported; see ring.c. */
struct hip_ring {
	bool asks[LAUNCH_KINDS];
	bool needs; /* until its reports have come */
};
extern struct hip_ring hip_ring;
/* Waits for outstanding reports, up to a limit. Returns how many are missing. */
uint32_t hip_await_reports(void);
/* Questions that will not be answered: their commands have failed. */
void hip_count_answers(uint32_t count);

/* In a forked child; called by hip_adopt(). */
void hip_activity_adopt(void);
