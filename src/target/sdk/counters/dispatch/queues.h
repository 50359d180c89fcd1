/*
 * Queues of the program's on devices that are counted, known by their doorbells from the next time
 * that it asks for room in them.
 */
#pragma once

#include "target/amd/ring_slots.h"

struct counted_device;

struct counted_queue {
	uint64_t doorbell;    /* 0: free */
	uint32_t is_known;    /* the rest is filled in */
	uint32_t was_awaited; /* in vain: nobody does so again */
	uint32_t is_stranger; /* its device cannot be told */
	uint64_t life;        /* no other ever has this number; 0: free */
	struct hsa_ring ring; /* without a handle, of which it may have several */
	uint64_t id;
	struct counted_device *device; /* NULL: its device is not counted */
	uint64_t plain; /* the last packet that went by uncounted, and one; 0: all are done */
	uint64_t taken; /* the last packet that room was taken for, where that was seen, and one */
};

/* NULL: not known. */
struct counted_queue *counted_queue_of(uint64_t doorbell);

/* In a call of the program's that uses it.  Where it is not known, or another by now, `describe`
 * fills in the rest (its device) before others find it.  NULL: there is no room for it, or it is no
 * queue.  `lost`: the life of one that was destroyed unseen, 0: none. */
typedef void describe_queue(struct counted_queue *entry, const struct hsa_queue *queue);
struct counted_queue *counted_queue_learn(const struct hsa_queue *queue, describe_queue *describe,
					  uint64_t *lost);

/* Room up to that packet was taken: said before anybody writes there. */
void counted_queue_note_taken(struct counted_queue *queue, uint64_t last);
/* Is what stands in the ring still that packet, as far as was seen? */
bool counted_queue_has(const struct counted_queue *queue, uint64_t index);

/* Have others of that device packets that went by uncounted, and are not known to be done? */
bool counted_queues_have_plain(const struct counted_device *device,
			       const struct counted_queue *except);

/* It is about to be destroyed.  True: it has such packets, and its end is to be told. */
bool counted_queue_leave(uint64_t doorbell);
void counted_queue_end(void);
/* Is there one?  What went by there may run until then. */
bool counted_queues_are_leaving(void);
/* It is about to be destroyed: which life that was, 0: it was not known. */
uint64_t counted_queue_forget(uint64_t doorbell);
void counted_queues_clear(void);
