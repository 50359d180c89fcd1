/*
 * Batches the records of one thread, on the collector's thread.
 */
#include "host/collect/slot.h"

#include <string.h>

/* Larger batches hardly compress better; older ones would be lost with limpet. */
#define BATCH_BYTES  (128u << 10)
#define BATCH_AGE_NS 100000000u

static void batch_begin(struct slot *slot)
{
	memset(&slot->packer, 0, sizeof(slot->packer));
	slot->packed.size = 0;
	slot->head.count = 0;
	slot->since_ns = 0;
}

int slot_begin(struct slot *slot, struct recording *recording, uint32_t process,
	       const struct ring_owner *owner, struct err *err)
{
	int r;

	memcpy(slot->name, owner->name, sizeof(slot->name));
	slot->thread = (struct recorded_thread){ .process = process,
						 .tid = owner->tid,
						 .generation = owner->generation,
						 .name = slot->name };
	r = recording_thread(recording, &slot->thread, err);
	if (r)
		return r;
	slot->head = (struct records_head){ .thread = slot->thread.number };
	slot->drops = (struct recorded_drops){ process, slot->thread.number, { 0 } };
	slot->is_known = true;
	slot->is_torn = true;
	slot->checked_ns = slot->answered_ns = 0;
	batch_begin(slot);
	return 0;
}

bool slot_take(struct slot *slot, const struct record *record, uint64_t now_ns)
{
	static const char no_head[RECORDS_HEAD_BYTES];
	unsigned char *into;

	if (!slot->packed.size)
		bytes_put(&slot->packed, no_head, sizeof(no_head));
	into = bytes_reserve(&slot->packed, PACKED_MAX);
	if (!into)
		return false;
	slot->packed.size += (size_t)(pack(&slot->packer, record, into) - into);
	slot->head.count++;
	if (!slot->since_ns)
		slot->since_ns = now_ns;
	return true;
}

void slot_count_drops(struct slot *slot, const struct ring *ring, uint64_t now_ns,
		      uint64_t totals[DROP_REASONS])
{
	for (unsigned reason = 0; reason < DROP_REASONS; reason++) {
		uint64_t count = ring_drops(ring, reason), more = count - slot->seen[reason];

		if (!more)
			continue;
		slot->seen[reason] = count;
		slot->drops.counts[reason] += more;
		totals[reason] += more;
		slot->has_unwritten_drops = true;
		if (!slot->since_ns)
			slot->since_ns = now_ns;
	}
}

bool slot_is_full(const struct slot *slot)
{
	return slot->packed.size >= BATCH_BYTES;
}

bool slot_is_due(const struct slot *slot, uint64_t now_ns)
{
	return slot_is_full(slot) || (slot->since_ns && now_ns - slot->since_ns >= BATCH_AGE_NS);
}

int slot_flush(struct slot *slot, struct recording *recording, struct err *err)
{
	int r = 0;

	if (slot->head.count) {
		r = recording_records(recording, &slot->head, &slot->packed, err);
		slot->head.sequence++;
	}
	batch_begin(slot);
	if (!r && slot->has_unwritten_drops)
		r = recording_item(recording, CHUNK_DROPS, &slot->drops, err);
	slot->has_unwritten_drops = false;
	return r;
}

int slot_rename(struct slot *slot, struct recording *recording, const char name[16],
		struct err *err)
{
	if (strncmp(slot->name, name, sizeof(slot->name)) == 0)
		return 0;
	memcpy(slot->name, name, sizeof(slot->name) - 1);
	return recording_item(recording, CHUNK_THREAD, &slot->thread, err);
}

void slot_end(struct slot *slot)
{
	slot->is_known = false;
	bytes_done(&slot->packed);
	bytes_done(&slot->stack);
	bytes_done(&slot->python);
	batch_begin(slot);
}
