/*
 * One thread's stream.  The chunks were validated before, but the file may have changed since:
 * nothing is assumed.
 */
#include "host/model/read/stream.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"
#include "host/model/samples/raw_stacks.h"
#include "host/model/samples/samples.h"
#include "host/recording/pack.h"

static bool has_more_locations(const struct stream *stream)
{
	return stream->next_location < stream->thread->location_count;
}

/* The earliest beginning of calls that are not read yet. */
static uint64_t unread_from(const struct stream *stream)
{
	return has_more_locations(stream)
		       ? stream->thread->locations[stream->next_location].least_begin
		       : UINT64_MAX;
}

uint64_t stream_key(const struct stream *stream)
{
	return stream->next < stream->ready ? stream->calls[stream->next].begin
					    : unread_from(stream);
}

int stream_next(struct stream *stream, const struct waiting_call **ret)
{
	if (stream->next < stream->ready) {
		*ret = &stream->calls[stream->next++];
		return 1;
	}
	return has_more_locations(stream) || stream->ready < stream->count ? 0 : -ENOENT;
}

static int add_call(struct stream *stream, const struct record_call *record)
{
	struct waiting_call *call;

	if (record->function >= stream->thread->process->function_count)
		return 0;
	if (make_room(&stream->calls, stream->count, &stream->room, sizeof(*stream->calls)))
		return -ENOMEM;
	call = &stream->calls[stream->count++];
	/* All but the values, most of which a call does not have. */
	memset(call, 0, offsetof(struct waiting_call, values));
	call->begin = record->begin;
	call->end = record->end;
	call->function = record->function;
	call->stack = STACK_NONE;
	call->value_count = record->head.count;
	memcpy(call->values, record + 1, record->head.count * sizeof(uint64_t));
	return 1;
}

/* Of addresses: whether callers are missing between them is not known. */
static int add_raw_stack(struct stream *stream, struct waiting_call *call,
			 const struct record_stack *record)
{
	call->stack = raw_stack_find(stream->model, stream->thread->process,
				     (const uint64_t *)(record + 1), record->head.count);
	call->stack_end = STACK_UNLINKED;
	call->has_stack = true;
	return 1;
}

static int add_stack(struct stream *stream, struct waiting_call *call,
		     const struct record_stack_number *record)
{
	if (record->stack < stream->model->samples->stack_count)
		call->stack = record->stack;
	call->stack_end = record->head.count < STACK_ENDS ? record->head.count : STACK_NO_RULE;
	call->has_stack = true;
	return 1;
}

static int add_text(struct stream *stream, struct waiting_call *call,
		    const struct record_text *record)
{
	call->text = stream->side.size;
	call->has_text = true;
	bytes_put(&stream->side, record + 1, record->bytes);
	bytes_put(&stream->side, "", 1);
	return stream->side.has_failed ? -ENOMEM : 1;
}

/* Those of several records are adjacent. */
static int add_counts(struct stream *stream, struct waiting_call *call,
		      const struct record_counts *record)
{
	static const char nothing[sizeof(uint64_t)];

	if (!call->count_count) {
		bytes_put(&stream->side, nothing, -stream->side.size % sizeof(uint64_t));
		call->counts = stream->side.size;
	} else if (call->counts + call->count_count * sizeof(struct record_count) !=
		   stream->side.size) {
		return 1;
	}
	call->count_count += record->head.count;
	bytes_put(&stream->side, record + 1, record->head.count * sizeof(struct record_count));
	return stream->side.has_failed ? -ENOMEM : 1;
}

/* The call that stacks and texts belong to, NULL: none. */
static struct waiting_call *last_call(const struct stream *stream)
{
	return stream->has_last && stream->calls ? &stream->calls[stream->count - 1] : NULL;
}

/* 1 when what follows may belong to it, 0 when it was ignored, -ENOMEM. */
static int stream_add(struct stream *stream, const struct record *record)
{
	struct waiting_call *last = last_call(stream);

	if (record->kind == RECORD_CALL)
		return add_call(stream, (const struct record_call *)record);
	/* Names were read before; a text may still follow, also after an unknown kind. */
	if (record->kind == RECORD_NAME || record->kind >= RECORD_KINDS)
		return last ? 1 : 0;
	if (!last)
		return 0;
	if (record->kind == RECORD_STACK)
		return add_raw_stack(stream, last, (const struct record_stack *)record);
	if (record->kind == RECORD_STACK_NUMBER)
		return add_stack(stream, last, (const struct record_stack_number *)record);
	if (record->kind == RECORD_COUNTS)
		return add_counts(stream, last, (const struct record_counts *)record);
	return add_text(stream, last, (const struct record_text *)record);
}

static int read_location(struct stream *stream)
{
	const struct records_location *location =
		&stream->thread->locations[stream->next_location++];
	struct packer packer = { 0 };
	_Alignas(uint64_t) unsigned char record[RECORD_MAX_BYTES];
	struct records_head head;
	struct chunk chunk;
	int r = 0;

	if (reader_at(stream->model->reader, location->at, &chunk) ||
	    records_read(&chunk.payload, &head))
		return 0;
	if (location > stream->thread->locations && location[-1].sequence + 1 != location->sequence)
		stream->has_last = false;
	while (r >= 0 && unpack(&packer, &chunk.payload, record) > 0) {
		r = stream_add(stream, (const struct record *)record);
		stream->has_last = r > 0;
	}
	return r < 0 ? r : 0;
}

static int by_begin(const void *left, const void *right)
{
	const struct waiting_call *a = left, *b = right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* Mostly they are: calls without others in them are written down one after the other. */
static bool are_in_order(const struct stream *stream)
{
	for (size_t i = 1; i < stream->count; i++)
		if (by_begin(&stream->calls[i - 1], &stream->calls[i]) > 0)
			return false;
	return true;
}

/* Texts of remaining calls may be anywhere: their memory is emptied only with the last call. */
static void forget_gone(struct stream *stream)
{
	memmove(stream->calls, stream->calls + stream->next,
		(stream->count - stream->next) * sizeof(*stream->calls));
	stream->count -= stream->next;
	stream->next = stream->ready = 0;
	if (!stream->count)
		stream->side.size = 0;
}

static bool next_has_a_rest(const struct stream *stream)
{
	return has_more_locations(stream) &&
	       stream->thread->locations[stream->next_location].begins_with_a_rest;
}

static bool any_may_go(const struct stream *stream, uint64_t least)
{
	return stream->count && (!has_more_locations(stream) ||
				 (least < unread_from(stream) && !next_has_a_rest(stream)));
}

int stream_read(struct stream *stream)
{
	uint64_t least = UINT64_MAX;
	size_t looked = 0;

	if (stream->calls)
		forget_gone(stream);
	for (;;) {
		for (; stream->calls && looked < stream->count; looked++)
			least = MIN(least, stream->calls[looked].begin);
		if (any_may_go(stream, least) || !has_more_locations(stream))
			break;
		if (read_location(stream) < 0)
			return -ENOMEM;
	}
	if (stream->calls && !are_in_order(stream))
		qsort(stream->calls, stream->count, sizeof(*stream->calls), by_begin);
	while (stream->calls && stream->ready < stream->count &&
	       (!has_more_locations(stream) ||
		stream->calls[stream->ready].begin < unread_from(stream)))
		stream->ready++;
	return 0;
}

void stream_done(struct stream *stream)
{
	free(stream->calls);
	bytes_done(&stream->side);
}
