/*
 * Application queues on counted devices, identified by their doorbells; each is learned when the
 * application next reserves a slot in it.
 */
#pragma once

#include "target/amd/counters/ring_slots.h"

struct counted_device;

struct counted_queue {
	uint64_t doorbell;    /* 0: free */
	uint32_t is_known;    /* the rest is filled in */
	uint32_t was_awaited; /* in vain: no thread waits again */
	uint32_t is_stranger; /* its device is unknown */
	uint64_t life;        /* unique; 0: free */
	struct hsa_ring ring; /* without a handle: there may be several */
	uint64_t id;
	struct counted_device *device; /* NULL: its device is not counted */
	uint64_t plain;                /* last uncounted packet, + 1; 0: all are done */
	uint64_t taken;                /* last packet with a slot reserved as far as seen, + 1 */
};

/* NULL: unknown. */
struct counted_queue *counted_queue_of(uint64_t doorbell);

/* In an application call that uses the queue: finds or adds its entry. `describe` fills in a new
 * entry (its device) before other threads find it. NULL: the table is full, or this is no queue.
 * `lost`: life of a queue that was destroyed unseen; 0: none. */
typedef void describe_queue(struct counted_queue *entry, const struct hsa_queue *queue);
struct counted_queue *counted_queue_learn(const struct hsa_queue *queue, describe_queue *describe,
					  uint64_t *lost);

/* Slots up to that packet are reserved: called before any thread writes there. */
void counted_queue_note_taken(struct counted_queue *queue, uint64_t last);
/* Does the ring's slot still hold that packet, as far as was seen? */
bool counted_queue_has(const struct counted_queue *queue, uint64_t index);

/* Does another queue of the device have uncounted packets that may still run? */
bool counted_queues_have_plain(const struct counted_device *device,
			       const struct counted_queue *except);

/* Before a queue is destroyed. True: it has such packets; then call counted_queue_end() after. */
bool counted_queue_leave(uint64_t doorbell);
void counted_queue_end(void);
/* Is such a destruction under way? Uncounted packets may run until it ends. */
bool counted_queues_are_leaving(void);
/* The queue is about to be destroyed: forgets it, and returns its life; 0: unknown. */
uint64_t counted_queue_forget(uint64_t doorbell);
void counted_queues_clear(void);
