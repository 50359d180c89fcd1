/*
 * Counters of whole devices, read at an interval.  Each device has a queue of ours, by which its
 * counters are started, read and stopped; nothing of the program's is hooked for it, and no queue
 * of the program's is touched.
 *
 * What was read is all that was counted since the start: the host makes windows of it, so one
 * reading more or less changes their length, and no value.
 */
#pragma once

#include "target/domains/amd/counters/devices.h"

/* Makes queues and starts to count.  On threads of ours, once in a life of the runtime. */
enum counting_fault windows_begin(const struct counter_request *request);
bool windows_are_on(void);

/* Reads where it is due; in how many nanoseconds it is due again.  On the watching thread. */
uint64_t windows_tick(uint64_t now_ns);

/* Reads for the last time, stops counting, and gives everything back; with the runtime there, and
 * nobody else in here.  What a device has not done after a while stays, for the next session. */
void windows_end(void);
/* The runtime is gone, or we are a forked child. */
void windows_forget(void);

/* Readings that came too late to know when they were made: the next one has what they had. */
uint32_t windows_late(void);
