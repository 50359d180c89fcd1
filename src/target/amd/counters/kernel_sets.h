/*
 * The life of a packet set: claimed for a kernel, read after its read packet, written, freed.
 */
#pragma once

#include "target/amd/counters/devices.h"
#include "target/amd/hsa/queues.h"

/* The number of the last use of any set, and of one set. */
uint64_t sets_last_use(void);
uint64_t set_use(const struct counter_set *set);
/* True on the thread that reads sets. */
bool sets_are_read_here(void);

/* Claims a set whose signal waits for its read packet; NULL: all are in use, or the runtime has no
 * more signals. Reserves nothing in a queue. */
struct counter_set *set_claim_free(struct counting_device *device);
/* Frees a claimed set that is in no queue. */
void set_put_back(struct counter_set *set);

/* Puts the set around the packet behind `first`; called before the device may see its packets. */
void set_begin(struct counter_set *set, const struct known_queue *known, uint64_t first);

/* True if the device has the set's packets and has not read. The set may be reused meanwhile. */
bool set_is_at_device(const struct counter_set *set);

/* Adds a part; writes the record once all parts are there. The caller owns the part. */
void set_finish(struct counter_set *set, uint32_t part);

/* Called before the set's queue is forgotten: stores whether other packets ran meanwhile. */
void set_leave_queue(struct counter_set *set, const struct known_queue *known);
/* The queue was destroyed: ends the set if it was in it, up to that use. */
void set_lose(struct counter_set *set, uint64_t doorbell, uint64_t last);
/* Ends the set with its session: writes what is known. The device keeps unfinished sets. */
void set_abandon(struct counter_set *set);

/* Counts uncounted packets in the device's other queues: those of its own queue run in order. */
uint32_t turns_of_others(const struct counting_device *device, const struct known_queue *known);
