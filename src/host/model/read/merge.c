/*
 * All threads' calls as one sequence: a heap of streams, the one with the earliest call on top.  In
 * the file a thread's calls are in the order of their ends, so a call is held back until no later
 * chunk can hold one that began before it.  A thread's records are read when they are due and freed
 * after its last call.  The chunks were validated before, but the file may have changed since:
 * nothing is assumed.
 */
#include "host/model/read/read.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"
#include "host/model/samples/samples.h"
#include "host/recording/pack.h"

/* A call as it waits for its turn. */
struct waiting_call {
	uint64_t begin, end; /* ticks */
	uint32_t function;
	uint32_t value_count;
	uint32_t stack, stack_end;
	bool has_text, has_stack;
	size_t text, counts; /* indexes in the stream's side */
	uint32_t count_count;
	uint64_t values[RECORD_VALUES_MAX];
};

struct stream {
	struct model *model;
	struct model_thread *thread;
	size_t next_location;
	struct waiting_call *calls;
	size_t count, room;
	size_t next, ready; /* those from next to ready may be returned */
	struct bytes side;  /* texts and counts */
	bool has_last;      /* the last call's further records may follow */
};

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

/* The beginning of the next call in ticks, or of one that is not yet read. */
static uint64_t stream_key(const struct stream *stream)
{
	return stream->next < stream->ready ? stream->calls[stream->next].begin
					    : unread_from(stream);
}

/* 1: *ret is the next call; 0: it has to be read first (stream_read); -ENOENT: there are no more.
 */
static int stream_next(struct stream *stream, const struct waiting_call **ret)
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

/* Reads until a call may be returned.  0 or -ENOMEM. */
static int stream_read(struct stream *stream)
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

static void stream_done(struct stream *stream)
{
	free(stream->calls);
	bytes_done(&stream->side);
}

struct merge {
	struct model *model;
	struct stream *streams; /* one for each thread */
	struct stream **heap;
	size_t count;
};

static bool is_before(const struct stream *a, const struct stream *b)
{
	uint64_t left = stream_key(a), right = stream_key(b);

	return left < right || (left == right && a->thread->number < b->thread->number);
}

/* The stream at this index may be later than those below it. */
static void sift_down(struct merge *merge, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < merge->count;
		     child++)
			if (is_before(merge->heap[child], merge->heap[least]))
				least = child;
		if (least == at)
			return;
		struct stream *other = merge->heap[at];

		merge->heap[at] = merge->heap[least];
		merge->heap[least] = other;
		at = least;
	}
}

static int merge_init(struct merge *merge, struct model *model)
{
	merge->model = model;
	merge->streams = calloc(MAX(model->thread_count, 1u), sizeof(*merge->streams));
	merge->heap = calloc(MAX(model->thread_count, 1u), sizeof(struct stream *));
	if (!merge->streams || !merge->heap)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->thread_count; i++) {
		merge->streams[i] = (struct stream){ .model = model, .thread = model->threads[i] };
		if (model->threads[i]->location_count)
			merge->heap[merge->count++] = &merge->streams[i];
	}
	for (size_t i = merge->count / 2; i-- > 0;)
		sift_down(merge, i);
	return 0;
}

static int merge_show(const struct stream *stream, const struct waiting_call *waiting,
		      call_visitor *visit, void *context)
{
	const struct model_process *process = stream->thread->process;
	const unsigned char *side = stream->side.data;
	uint64_t file;
	struct call call = {
		.model = stream->model,
		.process = process,
		.thread = stream->thread,
		.function = &process->functions[waiting->function],
		.function_number = process->first_function + waiting->function,
		.begin = waiting->begin,
		.begin_ns = model_time_ns(stream->model, waiting->begin),
		.end_ns = model_time_ns(stream->model, waiting->end),
		.value_count = waiting->value_count,
		.values = waiting->values,
		.has_stack = waiting->has_stack,
		.stack = waiting->stack,
		.stack_end = (enum stack_end)waiting->stack_end,
		.count_count = waiting->count_count,
		.counts = waiting->count_count ? (const void *)(side + waiting->counts) : NULL,
		.text = waiting->has_text ? (const char *)side + waiting->text : NULL,
	};

	/* The text of a system call is its file. */
	if (!call.text)
		call.text = call_value(&call, VALUE_FILE, &file)
				    ? names_find(&process->names, NAME_FILE, file)
				    : "";
	/* A clock that jumps back would yield durations of centuries. */
	call.end_ns = MAX(call.end_ns, call.begin_ns);
	return visit(&call, context);
}

static void remove_top(struct merge *merge)
{
	stream_done(merge->heap[0]);
	*merge->heap[0] = (struct stream){ .thread = merge->heap[0]->thread };
	merge->heap[0] = merge->heap[--merge->count];
}

int merge_each_call(struct model *model, call_visitor *visit, void *context)
{
	struct merge merge = { 0 };
	int r = merge_init(&merge, model);

	while (!r && merge.count) {
		struct stream *stream = merge.heap[0];
		const struct waiting_call *waiting;
		int found = stream_next(stream, &waiting);

		if (found > 0)
			r = merge_show(stream, waiting, visit, context);
		else if (found == 0)
			r = stream_read(stream);
		else
			remove_top(&merge);
		sift_down(&merge, 0);
	}
	for (uint32_t i = 0; merge.streams && i < merge.model->thread_count; i++)
		stream_done(&merge.streams[i]);
	free(merge.streams);
	free(merge.heap);
	return r;
}
