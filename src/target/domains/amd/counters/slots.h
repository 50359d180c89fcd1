/*
 * Room in a queue for packets of ours around one of the program's.
 */
#pragma once

#include "target/domains/amd/counters/devices.h"
#include "target/domains/amd/hsa/queues.h"

#define SLOTS_EXTRA 3u /* packets of ours around one */

/* In one step, and only where the ring stays half empty: so nobody ever waits for room that we
 * took. */
bool slots_reserve(struct known_queue *known, uint64_t *ret);
/* From now on those of ours are the device's; without a signal they do nothing. */
void slots_fill(const struct known_queue *known, uint64_t first, const struct counter_set *set,
		uint64_t signal);
