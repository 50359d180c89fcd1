/*
 * Room in a queue for packets of ours around one of the program's.
 */
#pragma once

#include "target/domains/amd/counters/devices.h"
#include "target/domains/amd/hsa/queues.h"

#define SLOTS_EXTRA 3u /* packets of ours around one */

/* A packet of aqlprofile's becomes the device's, with this signal (0: none). */
void slot_put(const struct hsa_queue *queue, uint64_t index, const struct hsa_packet *packet,
	      uint64_t signal);

/* Does the ring stay half empty?  Where not, it is rung for what is in it of ours. */
bool slots_have_room(const struct known_queue *known);
/* In one step, and only where it does: so nobody ever waits for room that we took. */
bool slots_reserve(const struct known_queue *known, uint64_t *ret);
/* From now on those of ours are the device's. */
void slots_fill(const struct known_queue *known, uint64_t first, const struct counter_set *set);
