/*
 * Counts whole devices for services of tools: one queue for each service, with the packets of its
 * config. Call these functions with the device turn held (device_turn.h), unless stated otherwise.
 */
#pragma once

#include "target/amd/sinks/sdk/counters/evaluate.h"

#define COUNTINGS_MAX 64u

/* Starts counting a config, unless that is already counted; config 0: nothing. A status. */
int device_counting_start(unsigned index, struct sdk_handle config);
/* Stops. False: the device has not answered; its queue and packets stay, for the next time. */
bool device_counting_end(unsigned index);
bool device_counting_is_there(unsigned index);
/* A number that changes whenever counting restarts from 0: after HSA's shutdown, a fault of the
 * queue, or a late device. */
uint32_t device_counting_beginning(unsigned index);

/* Adds the values counted since the start. A status; the values are complete only with SUCCESS. */
int device_counting_read(unsigned index, struct counter_records *ret);

/* Registers an exit handler, also for kernel counting: called before a packet set is made, and
 * again after the first one. False: registering failed. */
bool device_countings_watch_exit(bool has_set);
/* What that handler does first, within the time: delivers counts of kernels. */
void device_countings_before_end(void (*work)(uint64_t limit_ns));
/* Is an exit handler registered? Then this library must stay mapped. */
bool device_countings_exit_is_watched(void);

/* On the application thread about to shut HSA down, with the gate shut; takes the turn itself. */
void device_countings_end_queues(void);
/* In a forked child. */
void device_countings_adopt(void);
