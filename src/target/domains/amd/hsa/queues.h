/*
 * The queues of HSA programs, known by their doorbells: from their making on, or from the next time
 * that the program asks for room in them.
 */
#pragma once

#include "target/domains/amd/hsa/calls.h"

struct known_queue {
	uint64_t doorbell;
	uint64_t base, size;
	uint64_t low;     /* packets before this one were looked at */
	uint64_t *looked; /* by index in the ring: the last packet there that was looked at, and one
			   */
	uint64_t room;    /* of it */
	uint64_t agent, device, number;
	uint64_t counted_last; /* the last packet of counters/ in it */
	uint64_t plain_last;   /* the last packet that goes by uncounted, where kernels are */
	uint32_t plain_turn;   /* so many did */
	uint32_t has_plain;    /* and it is not known to be done */
	uint32_t is_known;     /* the rest is filled in */
};

/* Forgets all. */
void hsa_queues_clear(void);

/* A queue that the program uses: `next` is its next packet; its agent, where that was seen, or 0.
 * True: it was not known. */
bool hsa_queue_learn(const struct hsa_queue *queue, uint64_t next, uint64_t agent);

/* The next packet from `*index` to `last` that is filled in and was not looked at, each given once;
 * also the last itself, however it looks.  False when there is none. */
bool hsa_queue_next(struct known_queue *queue, uint64_t *index, uint64_t last);

void hsa_queue_forget(const struct hsa_queue *queue);

/* The queue of that doorbell; NULL. */
struct known_queue *hsa_queue_of(uint64_t doorbell);
