/*
 * Queues of HSA programs, by their doorbells: known from their creation, or from the application's
 * next reservation of a slot.
 */
#pragma once

#include "target/amd/hsa/functions.h"

struct known_queue {
	uint64_t doorbell;
	uint64_t base, size;
	uint64_t low;     /* packets before this one were handled */
	uint64_t *looked; /* by ring index: number of the last handled packet, plus one */
	uint64_t room;    /* number of elements of `looked` */
	uint64_t agent, number;
	uint64_t counted_last; /* the last of limpet's counter packets in it */
	uint64_t plain_last;   /* the last uncounted packet while kernels are counted */
	uint32_t plain_turn;   /* number of uncounted packets */
	uint32_t has_plain;    /* uncounted packets that may not have ended */
	uint32_t is_known;     /* all fields are valid */
};

/* Forgets all. */
void hsa_queues_clear(void);

/* Notes a queue in use: `next` is its next packet; `agent` may be 0. True: it was new. */
bool hsa_queue_learn(const struct hsa_queue *queue, uint64_t next, uint64_t agent);

/* Finds the next written packet from `*index` to `last` that was not handled, each once; always
 * also the last one. False if there is none. */
bool hsa_queue_next(struct known_queue *queue, uint64_t *index, uint64_t last);

void hsa_queue_forget(const struct hsa_queue *queue);

/* The queue of that doorbell, or NULL. */
struct known_queue *hsa_queue_of(uint64_t doorbell);
