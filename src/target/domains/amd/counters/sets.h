/*
 * The life of a set of packets: taken for a kernel, read when the device is done, written, put
 * back.
 */
#pragma once

#include "target/domains/amd/counters/devices.h"
#include "target/domains/amd/hsa/queues.h"

/* The number of the last use that was made of any set, and that of one. */
uint64_t sets_last_use(void);
uint64_t set_use(const struct counter_set *set);
/* By the calling thread? */
bool sets_are_read_here(void);

/* Taken, with a signal that waits for its read; NULL: all are in use, or the runtime has no more
 * signals.  Nothing of a queue is taken yet. */
struct counter_set *set_take_free(struct counting_device *device);
/* It is in no queue after all. */
void set_put_back(struct counter_set *set);

/* Around the packet behind `first`, from now on: before its packets become the device's. */
void set_begin(struct counter_set *set, const struct known_queue *known, uint64_t first);

/* The device has its packets, and has not read.  It may be around another by the time that this is
 * told. */
bool set_is_at_device(const struct counter_set *set);

/* A part of what is known of it; written where all is there.  Whoever calls owns that part. */
void set_finish(struct counter_set *set, uint32_t part);

/* Where that is its queue, which is about to be forgotten: whether others went by meanwhile is
 * asked for now. */
void set_leave_queue(struct counter_set *set, const struct known_queue *known);
/* That queue is gone: where it was in it, up to that use of all, nothing comes of it any more. */
void set_lose(struct counter_set *set, uint64_t doorbell, uint64_t last);
/* Its session is over: written as far as it is known.  What the device has not done stays its. */
void set_abandon(struct counter_set *set);

/* How often packets went by uncounted in other queues of the device: those of its own wait. */
uint32_t turns_of_others(const struct counting_device *device, const struct known_queue *known);
