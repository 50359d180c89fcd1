/*
 * Counters of whole devices, read at an interval. limpet has a queue on each device, by which it
 * starts, reads and stops the counters; it neither hooks calls of the application for that nor
 * touches its queues.
 *
 * A reading contains all counts since the start: the host makes windows of differences, so one
 * reading more or less changes their length, and no value.
 */
#pragma once

#include "target/amd/counters/devices.h"

/* Makes queues and starts counting. On limpet's threads, once in a life of the runtime. */
enum counting_fault windows_begin(const struct counter_request *request);
bool windows_are_on(void);

/* Reads if it is due; returns the nanoseconds until the next reading. On the watching thread. */
uint64_t windows_tick(uint64_t now_ns);

/* Reads for the last time, stops counting, and frees everything; the runtime must exist, and no
 * other thread be inside. A device that does not answer keeps its packets for the next session. */
void windows_end(void);
/* The runtime was shut down, or this is a forked child. */
void windows_forget(void);

/* Number of readings so late that their time is unknown: the next one contains their counts. */
uint32_t windows_late(void);
