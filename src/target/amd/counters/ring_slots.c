/*
 * Runs on application threads, inside their calls that use the queue.
 */
#include "target/amd/counters/ring_slots.h"

#include "target/runtime/patience.h"

#include <string.h>

#define TRIES         4u
#define GLANCE_NS     20000u
#define LIMIT_NS      2000000000ull
#define VENDOR_HEADER (1u << 8 | 2u << 9 | 2u << 11) /* barrier; system scope fences */

/* Does the queue hold limpet's packets that the device has not read? */
static bool has_ours(const struct hsa_ring *ring, uint64_t read)
{
	return ring->counted_last && (int64_t)(ring->counted_last - read) >= 0;
}

static bool has_room(const struct ring_calls *calls, const struct hsa_ring *ring, uint64_t write)
{
	uint64_t read = calls->load_read(ring->queue);

	if (write + 1 + SLOTS_EXTRA - read <= ring->size / 2)
		return true;
	/* limpet's packets may fill the ring: they must not wait for a doorbell that the
	 * application rings only once the ring has room. */
	if (has_ours(ring, read))
		calls->ring(ring->doorbell, (int64_t)write - 1);
	return false;
}

bool slots_have_room(const struct ring_calls *calls, const struct hsa_ring *ring)
{
	return has_room(calls, ring, calls->load_write(ring->queue));
}

bool slots_reserve(const struct ring_calls *calls, const struct hsa_ring *ring, uint64_t *ret)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t write = calls->load_write(ring->queue);

		if (!has_room(calls, ring, write))
			return false;
		if (calls->cas_write(ring->queue, write, write + 1 + SLOTS_EXTRA) != write)
			continue;
		*ret = write;
		return true;
	}
	return false;
}

void slots_await(const struct ring_calls *calls, const struct hsa_ring *ring, uint64_t last)
{
	struct patience patience = { 0, 0 };
	uint64_t read;

	if (!ring->counted_last)
		return;
	read = calls->load_read(ring->queue);
	if ((int64_t)(last - read) < (int64_t)ring->size || !has_ours(ring, read))
		return;
	calls->ring(ring->doorbell, (int64_t)ring->counted_last);
	do
		read = calls->load_read(ring->queue);
	while ((int64_t)(last - read) >= (int64_t)ring->size && has_ours(ring, read) &&
	       patience_pause(&patience, GLANCE_NS, LIMIT_NS));
}

void slots_note(uint64_t *counted_last, uint64_t last)
{
	uint64_t before = __atomic_load_n(counted_last, __ATOMIC_RELAXED);

	while ((int64_t)(last - before) > 0 &&
	       !__atomic_compare_exchange_n(counted_last, &before, last, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

static void packet_put(struct hsa_packet *into, const struct hsa_packet *packet, uint16_t header,
		       uint64_t signal)
{

	memcpy((char *)into + sizeof(header), (const char *)packet + sizeof(header),
	       sizeof(*into) - sizeof(header));
	into->completion = signal;
	/* Release: the device reads the packet once its header is valid. */
	__atomic_store_n(&into->header, header, __ATOMIC_RELEASE);
}

void slot_put(const struct hsa_queue *queue, uint64_t index, const struct hsa_packet *packet,
	      uint64_t signal)
{
	packet_put((struct hsa_packet *)queue->base + (index & (queue->size - 1)), packet,
		   VENDOR_HEADER, signal);
}

static struct hsa_packet *packet_at(const struct hsa_ring *ring, uint64_t index)
{
	return (struct hsa_packet *)ring->base + (index & (ring->size - 1));
}

void slots_fill(const struct hsa_ring *ring, uint64_t first, const struct pmc_packets *packets,
		uint64_t signal)
{
	packet_put(packet_at(ring, first), &packets->start, VENDOR_HEADER, 0);
	packet_put(packet_at(ring, first + 2), &packets->stop, VENDOR_HEADER, 0);
	packet_put(packet_at(ring, first + 3), &packets->read, VENDOR_HEADER, signal);
}
