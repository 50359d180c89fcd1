/*
 * Reads records from the rings of perf events.
 */
#include "host/sampling/copy/perf_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/core/room.h"

/* The end of records other than samples: { pid, tid }, time, id, { cpu, reserved }. */
#define TRAILER 32u
/* The same at the beginning of samples: { pid, tid }, time, id, { cpu, reserved }. */
#define LEADER 32u

static void read_common(struct perf_record *record)
{
	const char *bytes = (const char *)record->header;
	uint32_t ids[2];

	if (record->header->type == PERF_RECORD_SAMPLE)
		bytes += sizeof(*record->header);
	else
		bytes += record->header->size - TRAILER;
	memcpy(ids, bytes, sizeof(ids));
	record->pid = (pid_t)ids[0];
	record->tid = (pid_t)ids[1];
	memcpy(&record->time_ns, bytes + 8, 8);
	memcpy(&record->id, bytes + 16, 8);
	memcpy(&record->cpu, bytes + 24, 4);
}

/* A record across the end of its ring continues at the ring's beginning. */
static int perf_batch_straighten(struct perf_batch *batch, const struct perf_ring *ring,
				 const char *data, uint64_t at,
				 const struct perf_event_header **header)
{
	uint64_t offset = at & (ring->size - 1), size = (*header)->size;
	char *copy;
	int r;

	if (offset + size <= ring->size)
		return 0;
	r = make_room(&batch->copies, batch->copy_count, &batch->copy_room, sizeof(void *));
	copy = r < 0 ? NULL : malloc(size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, data + offset, ring->size - offset);
	memcpy(copy + (ring->size - offset), data, size - (ring->size - offset));
	batch->copies[batch->copy_count++] = copy;
	*header = (const struct perf_event_header *)copy;
	return 0;
}

static int take_ring(struct perf_batch *batch, const struct perf_ring *ring, uint64_t head)
{
	const char *data = (const char *)ring->page + sysconf(_SC_PAGESIZE);
	uint64_t at = ring->page->data_tail;

	while (at < head) {
		/* Records are multiples of 8, so a header never lies across the end. */
		const struct perf_event_header *header =
			(const void *)(data + (at & (ring->size - 1)));
		uint16_t size = header->size;
		int r = make_room(&batch->items, batch->count, &batch->room, sizeof(*batch->items));

		if (size < sizeof(*header) + LEADER || size > head - at)
			return 0;
		if (!r)
			r = perf_batch_straighten(batch, ring, data, at, &header);
		if (r < 0)
			return r;
		batch->items[batch->count].header = header;
		read_common(&batch->items[batch->count++]);
		at += size;
	}
	return 0;
}

static int compare_times(const void *left, const void *right)
{
	const struct perf_record *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return 0;
}

int perf_batch_take(struct perf_batch *ret, struct perf_events *events)
{
	int r = 0;

	*ret = (struct perf_batch){ .heads = calloc(events->ring_count, sizeof(uint64_t)) };
	if (!ret->heads)
		return -ENOMEM;
	for (size_t i = 0; !r && i < events->ring_count; i++) {
		const struct perf_ring *ring = &events->rings[i];

		if (!ring->page)
			continue;
		/* Acquire: pairs with the kernel's store of data_head behind the records. */
		ret->heads[i] = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		r = take_ring(ret, ring, ret->heads[i]);
	}
	if (r < 0)
		perf_batch_done(ret, events);
	else if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_times);
	return r;
}

void perf_batch_done(struct perf_batch *batch, struct perf_events *events)
{
	for (size_t i = 0; batch->heads && i < events->ring_count; i++)
		/* Release: pairs with the kernel's load of data_tail; all before it has been
		 * read. */
		if (events->rings[i].page)
			__atomic_store_n(&events->rings[i].page->data_tail, batch->heads[i],
					 __ATOMIC_RELEASE);
	for (size_t i = 0; i < batch->copy_count; i++)
		free(batch->copies[i]);
	free(batch->copies);
	free(batch->items);
	free(batch->heads);
	*batch = (struct perf_batch){ 0 };
}
