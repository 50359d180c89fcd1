/*
 * Reserves slots in an application queue for limpet's packets around an application packet. Their
 * order: start · application packet · stop · read, which has limpet's signal.
 */
#pragma once

#include "target/amd/counters/aqlprofile.h"

#define SLOTS_EXTRA 3u /* limpet's packets around one application packet */

/* HSA's own functions. */
struct ring_calls {
	uint64_t (*load_read)(const struct hsa_queue *queue);
	uint64_t (*load_write)(const struct hsa_queue *queue);
	uint64_t (*cas_write)(const struct hsa_queue *queue, uint64_t expected, uint64_t value);
	void (*ring)(uint64_t doorbell, int64_t value);
};

/* A ring as one application call uses it; `queue` is the handle of that call. Several handles may
 * share a ring, and each may be destroyed before the ring is. */
struct hsa_ring {
	const struct hsa_queue *queue;
	uint64_t base, size, doorbell;
	uint64_t counted_last; /* index of limpet's last packet in it */
};

/* Hands one packet of aqlprofile to the device, with this completion signal (0: none). */
void slot_put(const struct hsa_queue *queue, uint64_t index, const struct hsa_packet *packet,
	      uint64_t signal);

/* Does the ring stay at most half full? If not, rings the doorbell for limpet's packets in it. */
bool slots_have_room(const struct ring_calls *calls, const struct hsa_ring *ring);
/* Checks and reserves in one exchange: the application never waits for slots that limpet holds. */
bool slots_reserve(const struct ring_calls *calls, const struct hsa_ring *ring, uint64_t *ret);
/* The application has reserved slots up to `last` itself. An application that counts its own
 * packets does not check whether the ring is full: if limpet's packets fill it, rings the doorbell
 * and waits for the device, for two seconds at most. */
void slots_await(const struct ring_calls *calls, const struct hsa_ring *ring, uint64_t last);
/* Raises *counted_last, which all application threads share, to `last`. */
void slots_note(uint64_t *counted_last, uint64_t last);
/* Hands limpet's packets around `first` + 1 to the device; `signal` completes the read packet. */
void slots_fill(const struct hsa_ring *ring, uint64_t first, const struct pmc_packets *packets,
		uint64_t signal);
