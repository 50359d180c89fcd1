/*
 * On threads of the program's, while they use the queue.
 */
#include "target/domains/amd/counters/slots.h"

#include <string.h>

#define TRIES         4u
#define VENDOR_HEADER (1u << 8 | 2u << 9 | 2u << 11) /* barrier; fences of the system */

static bool has_room(const struct known_queue *known, uint64_t write)
{
	uint64_t read = hsa_calls.load_read(known->queue);

	if (write + 1 + SLOTS_EXTRA - read <= known->size / 2)
		return true;
	/* Packets of ours may be what fills it: they must not wait for a doorbell that the program
	 * rings when there is room. */
	if (known->counted_last && known->counted_last >= read)
		hsa_calls.ring(known->doorbell, (int64_t)write - 1);
	return false;
}

bool slots_have_room(const struct known_queue *known)
{
	return has_room(known, hsa_calls.load_write(known->queue));
}

bool slots_reserve(const struct known_queue *known, uint64_t *ret)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t write = hsa_calls.load_write(known->queue);

		if (!has_room(known, write))
			return false;
		if (hsa_calls.cas_write(known->queue, write, write + 1 + SLOTS_EXTRA) != write)
			continue;
		*ret = write;
		return true;
	}
	return false;
}

static void packet_put(struct hsa_packet *into, const struct hsa_packet *packet, uint16_t header,
		       uint64_t signal)
{

	memcpy((char *)into + sizeof(header), (const char *)packet + sizeof(header),
	       sizeof(*into) - sizeof(header));
	into->completion = signal;
	/* Release: from now on it is the device's. */
	__atomic_store_n(&into->header, header, __ATOMIC_RELEASE);
}

void slot_put(const struct hsa_queue *queue, uint64_t index, const struct hsa_packet *packet,
	      uint64_t signal)
{
	packet_put((struct hsa_packet *)queue->base + (index & (queue->size - 1)), packet,
		   VENDOR_HEADER, signal);
}

static struct hsa_packet *packet_at(const struct known_queue *known, uint64_t index)
{
	return (struct hsa_packet *)known->base + (index & (known->size - 1));
}

void slots_fill(const struct known_queue *known, uint64_t first, const struct counter_set *set)
{
	packet_put(packet_at(known, first), &set->aql.packets.start, VENDOR_HEADER, 0);
	packet_put(packet_at(known, first + 2), &set->aql.packets.stop, VENDOR_HEADER, 0);
	packet_put(packet_at(known, first + 3), &set->aql.packets.read, VENDOR_HEADER, set->signal);
}
