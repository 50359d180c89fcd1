/*
 * Queues of the program's on devices that are counted, known by their doorbells from the next time
 * that it asks for room in them.
 */
#pragma once

#include "target/runtime/amd/ring_slots.h"

struct counted_device;

struct counted_queue {
	uint64_t doorbell; /* 0: free */
	uint32_t is_known; /* the rest is filled in */
	uint32_t life;     /* of this entry: another queue may get it later */
	struct hsa_ring ring;
	uint64_t id;
	struct counted_device *device; /* NULL: its device is not counted */
	uint64_t plain; /* the last packet that went by uncounted, and one; 0: all are done */
};

/* NULL: not known. */
struct counted_queue *counted_queue_of(uint64_t doorbell);

/* In a call of the program's that uses it.  Where it is not known, or another by now, `describe`
 * fills in the rest (its device) before others find it.  NULL: there is no room for it, or it is no
 * queue. */
typedef void describe_queue(struct counted_queue *queue);
struct counted_queue *counted_queue_learn(const struct hsa_queue *queue, describe_queue *describe);

/* Have others of that device packets that went by uncounted, and are not known to be done? */
bool counted_queues_have_plain(const struct counted_device *device,
			       const struct counted_queue *except);

/* It is about to be destroyed. */
void counted_queue_forget(uint64_t doorbell);
void counted_queues_clear(void);
