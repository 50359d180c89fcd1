/*
 * On threads of the program's, while they use the queue.
 */
#include "target/domains/amd/counters/slots.h"

#include <string.h>

#define TRIES          4u
#define VENDOR_HEADER  (1u << 8 | 2u << 9 | 2u << 11) /* barrier; fences of the system */
#define NOTHING_HEADER (3u | 1u << 8)                 /* a barrier that waits for nothing */

bool slots_reserve(struct known_queue *known, uint64_t *ret)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t write = hsa_calls.load_write(known->queue);
		uint64_t read = hsa_calls.load_read(known->queue);

		if (write + 1 + SLOTS_EXTRA - read > known->size / 2) {
			/* Packets of ours may be what fills it: they must not wait for a doorbell
			 * that the program rings when there is room. */
			if (known->counted_last && known->counted_last >= read)
				hsa_calls.ring(known->doorbell, (int64_t)write - 1);
			return false;
		}
		if (hsa_calls.cas_write(known->queue, write, write + 1 + SLOTS_EXTRA) != write)
			continue;
		*ret = write;
		return true;
	}
	return false;
}

static void packet_put(const struct known_queue *known, uint64_t index,
		       const struct hsa_packet *packet, uint16_t header, uint64_t signal)
{
	struct hsa_packet *into = (struct hsa_packet *)known->base + (index & (known->size - 1));

	memcpy((char *)into + sizeof(header), (const char *)packet + sizeof(header),
	       sizeof(*into) - sizeof(header));
	into->completion = signal;
	/* Release: from now on it is the device's. */
	__atomic_store_n(&into->header, header, __ATOMIC_RELEASE);
}

void slots_fill(const struct known_queue *known, uint64_t first, const struct counter_set *set,
		uint64_t signal)
{
	static const struct hsa_packet nothing;
	bool is_whole = signal != 0;
	uint16_t header = is_whole ? VENDOR_HEADER : NOTHING_HEADER;

	packet_put(known, first, is_whole ? &set->packets.start : &nothing, header, 0);
	packet_put(known, first + 2, is_whole ? &set->packets.stop : &nothing, header, 0);
	packet_put(known, first + 3, is_whole ? &set->packets.read : &nothing, header, signal);
}
