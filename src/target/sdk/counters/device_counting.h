/*
 * What counts whole devices for services of tools: for each a queue with the packets of its config.
 * All in one's turn (device_turn.h), but for what is said.
 */
#pragma once

#include "target/sdk/counters/evaluate.h"

#define COUNTINGS_MAX 64u

/* Starts to count what a config has, where that is not so already; config 0: nothing.  A status. */
int device_counting_start(unsigned index, struct sdk_handle config);
/* Stops.  False: the device has not answered; its queue and packets stay, for the next time. */
bool device_counting_end(unsigned index);
bool device_counting_is_there(unsigned index);
/* A number that is another one whenever counting has begun anew, from 0: after HSA's end, a fault
 * of the queue, or a device that was late. */
uint32_t device_counting_beginning(unsigned index);

/* Adds what was counted since the start.  A status; only with SUCCESS it is whole. */
int device_counting_read(unsigned index, struct counter_records *ret);

/* From now on the program's end is seen, also where kernels are counted: before a set of packets is
 * made, and again when the first one is.  False: it cannot be. */
bool device_countings_watch_exit(bool has_set);
/* Does exit() call us for it?  Then this library must stay. */
bool device_countings_exit_is_watched(void);

/* On the program's thread that is about to shut HSA down, with the gate shut: takes its turn. */
void device_countings_end_queues(void);
/* In a forked child. */
void device_countings_adopt(void);
