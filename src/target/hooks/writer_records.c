/*
 * Writes records into the ring of the calling thread. Runs inside every hooked call.
 */
#include "target/hooks/writer_private.h"

#include <string.h>

#define LOOK_EVERY   4096u
#define LOOK_BYTES   128u /* the part of LOOK_EVERY in which a record or two begin */
#define CALLER_BYTES ((uint16_t)(sizeof(struct record_stack) + sizeof(uint64_t)))

/* A child forked by a signal handler during a write must not touch the ring. */
static void writer_commit(struct writer *writer, size_t size)
{
	if (writers_current())
		ring_commit(&writer->ring, size);
}

/* Processors' counters may differ, and a migrated virtual machine may set them back: the counter
 * may be lower at the end of a call than at its begin. */
static void turn_time(struct writer *writer, struct record_call *record)
{
	if (record->end >= record->begin)
		return;
	record->end = record->begin;
	writer->ring.ring->turned++;
}

bool writer_has_room(const struct writer *writer, size_t size)
{
	return ring_has_room(&writer->ring, size);
}

static void fill_call(struct writer *writer, struct record_call *record,
		      const struct record_call *call, const uint64_t *values)
{
	size_t size = record_call_size(call->head.count);
	uint64_t *into = (uint64_t *)(record + 1);

	*record = *call;
	turn_time(writer, record);
	record->head.size = (uint16_t)size;
	record->head.kind = RECORD_CALL;
	for (unsigned i = 0; i < call->head.count; i++)
		into[i] = values[i];
	writer_commit(writer, size);
}

bool writer_call(struct writer *writer, const struct record_call *call, const uint64_t *values)
{
	struct record_call *record =
		ring_reserve(&writer->ring, record_call_size(call->head.count));

	if (record)
		fill_call(writer, record, call, values);
	return record;
}

/* Reads the host's position seldom while the ring is fuller: the host writes it all the time. */
static bool is_half_free(const struct writer *writer)
{
	const struct ring *ring = writer->ring.ring;
	uint64_t used = ring->head - ring->tail_seen, half = writer->ring.mask / 2;

	if (used <= half)
		return true;
	if (used > half + LOOK_EVERY && ring->head % LOOK_EVERY >= LOOK_BYTES)
		return false;
	return ring_has_room(&writer->ring, (writer->ring.mask + 1) / 4);
}

/* Writes both records or none: the room is reserved at once. */
bool writer_call_from(struct writer *writer, const struct record_call *call, const uint64_t *values,
		      uint64_t caller)
{
	size_t size = record_call_size(call->head.count);
	struct record_call *record;
	struct record_stack *stack;

	if (!is_half_free(writer))
		return writer_call(writer, call, values);
	record = ring_reserve(&writer->ring, size + CALLER_BYTES);
	if (!record)
		return false;
	fill_call(writer, record, call, values);
	stack = (struct record_stack *)((char *)record + size);
	*stack = (struct record_stack){ { CALLER_BYTES, RECORD_STACK, 1 }, true };
	*(uint64_t *)(stack + 1) = caller;
	writer_commit(writer, CALLER_BYTES);
	return true;
}

/* Writes a record: its fixed part, without the size, and what follows. Inlined: the fixed part's
 * size is a constant. */
static inline __attribute__((always_inline)) bool write_record(struct writer *writer,
							       const void *fixed, size_t fixed_size,
							       const void *more, size_t more_size)
{
	size_t size = ALIGN_UP(fixed_size + more_size, RECORD_ALIGNMENT);
	struct record *record = ring_reserve(&writer->ring, size);

	if (!record)
		return false;
	memcpy(record, fixed, fixed_size);
	record->size = (uint16_t)size;
	memcpy((char *)record + fixed_size, more, more_size);
	writer_commit(writer, size);
	return true;
}

void writer_text(struct writer *writer, const char *text, size_t length)
{
	struct record_text record = { { 0, RECORD_TEXT, 0 },
				      (uint32_t)MIN(length, (size_t)RECORD_TEXT_MAX) };

	(void)write_record(writer, &record, sizeof(record), text, record.bytes);
}

void writer_stack(struct writer *writer, const uint64_t *frames, unsigned count)
{
	struct record_stack record = { { 0, RECORD_STACK, (uint8_t)count }, false };

	(void)write_record(writer, &record, sizeof(record), frames, count * sizeof(*frames));
}

void writer_python(struct writer *writer, const struct interpreted_frame *frames, unsigned count,
		   bool is_cut)
{
	struct record_python record = { { 0, RECORD_PYTHON, (uint8_t)count }, is_cut };

	(void)write_record(writer, &record, sizeof(record), frames, count * sizeof(*frames));
}

static bool write_stack_part(struct writer *writer, const struct record_stack_part *caller,
			     unsigned part)
{
	struct record_stack_part record = *caller;
	uint32_t from = part * STACK_PART_BYTES;

	record.head = (struct record){ 0, RECORD_STACK_PART, (uint8_t)part };
	return write_record(writer, &record, sizeof(record), (const char *)caller->sp + from,
			    MIN(caller->bytes - from, STACK_PART_BYTES));
}

/* Keeps half of the ring free for smaller records: a burst of copies must lose no call. */
bool writer_stack_copy(struct writer *writer, const struct record_stack_part *caller)
{
	if (!ring_has_room(&writer->ring, (writer->ring.mask + 1) / 4))
		return false;
	for (unsigned part = 0; part * STACK_PART_BYTES < caller->bytes; part++)
		if (!write_stack_part(writer, caller, part))
			break;
	return true;
}

void writer_counts(struct writer *writer, const struct record_count *counts, unsigned count)
{
	struct record_counts record = { { 0, RECORD_COUNTS, (uint8_t)count }, 0 };

	(void)write_record(writer, &record, sizeof(record), counts, count * sizeof(*counts));
}

bool writer_name(struct writer *writer, enum name_space space, uint64_t id, const char *text,
		 size_t length)
{
	const size_t part_max = RECORD_MAX_BYTES - sizeof(struct record_name);
	size_t at = 0;
	bool is_written = true;

	length = MIN(length, (size_t)NAME_BYTES_MAX);
	for (unsigned part = 0; is_written && (at < length || !part); part++) {
		size_t bytes = MIN(length - at, part_max);
		struct record_name record = {
			{ 0, RECORD_NAME, (uint8_t)part }, (uint16_t)bytes, (uint16_t)space, id
		};

		is_written = write_record(writer, &record, sizeof(record), text + at, bytes);
		at += bytes;
	}
	return is_written;
}
