/*
 * Room in a queue of the program's for packets of ours around one of its own:
 *
 *   start · the program's packet · stop · read, with a signal of ours
 */
#pragma once

#include "target/amd/aqlprofile.h"

#define SLOTS_EXTRA 3u /* packets of ours around one */

/* HSA's own functions. */
struct ring_calls {
	uint64_t (*load_read)(const struct hsa_queue *queue);
	uint64_t (*load_write)(const struct hsa_queue *queue);
	uint64_t (*cas_write)(const struct hsa_queue *queue, uint64_t expected, uint64_t value);
	void (*ring)(uint64_t doorbell, int64_t value);
};

/* In a call of the program's that uses it: the handle is that call's.  Several handles may be of
 * one ring, and each may be gone before the ring is. */
struct hsa_ring {
	const struct hsa_queue *queue;
	uint64_t base, size, doorbell;
	uint64_t counted_last; /* the last packet of ours in it */
};

/* A packet of aqlprofile's becomes the device's, with this signal (0: none). */
void slot_put(const struct hsa_queue *queue, uint64_t index, const struct hsa_packet *packet,
	      uint64_t signal);

/* Does the ring stay half empty?  Where not, it is rung for what is in it of ours. */
bool slots_have_room(const struct ring_calls *calls, const struct hsa_ring *ring);
/* In one step, and only where it does: so nobody ever waits for room that we took. */
bool slots_reserve(const struct ring_calls *calls, const struct hsa_ring *ring, uint64_t *ret);
/* The program has taken room up to `last` itself.  One that keeps count of its own packets does not
 * look whether the ring is full: where it is, by packets of ours, it is rung for them, and the
 * device is waited for, for a while. */
void slots_await(const struct ring_calls *calls, const struct hsa_ring *ring, uint64_t last);
/* The last packet of ours, of any thread's. */
void slots_note(uint64_t *counted_last, uint64_t last);
/* From now on those of ours are the device's; the signal is that of the read. */
void slots_fill(const struct hsa_ring *ring, uint64_t first, const struct pmc_packets *packets,
		uint64_t signal);
