/*
 * One pass over the rings, on one thread at a time.  The head of the rings is copied once after it
 * was validated: the target could change it afterwards.
 */
#include "host/collect/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/collect/call_stacks.h"
#include "host/collect/collector.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"

/* The interval between checks of a silent thread, and the same when rings are scarce. */
#define ASK_NS        50000000u
#define ASK_SCARCE_NS 1000000u
#define FINISH_PASSES 64
#define PAGE_BYTES    4096u
#define PYTHON_BYTES_MAX \
	(INTERPRETED_FRAMES_MAX - RECORD_PYTHON_FRAMES_MAX) * sizeof(struct interpreted_frame)

int collector_new(struct recording *recording, const struct collect_source *source,
		  struct collector **ret, struct err *err)
{
	CLEANUP(collector_free) struct collector *self = calloc(1, sizeof(*self));

	if (!self)
		return err_set(err, -ENOMEM, "collect: no memory");
	worker_init(&self->worker);
	self->recording = recording;
	self->source = *source;
	self->window_function = UINT32_MAX;
	if (source->size >= sizeof(self->layout))
		memcpy(&self->layout, source->rings, sizeof(self->layout));
	if (rings_check(&self->layout, source->size))
		return err_set(err, -EPROTO, "the head of the rings is damaged");
	self->slots = calloc(self->layout.slot_count, sizeof(*self->slots));
	if (!self->slots)
		return err_set(err, -ENOMEM, "collect: no memory");
	*ret = TAKE(self);
	return 0;
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	collector_stop(collector);
	for (uint32_t i = 0; collector->slots && i < collector->layout.slot_count; i++) {
		bytes_done(&collector->slots[i].packed);
		bytes_done(&collector->slots[i].stack);
		bytes_done(&collector->slots[i].python);
		reading_done(&collector->slots[i].draft);
	}
	free(collector->slots);
	free(collector->numbers);
	worker_done(&collector->worker);
	free(collector);
}

/* Other sources may add functions of this process to the recording, too: the target's get their own
 * numbers there. */
static int learn_numbers(struct collector *self, const struct trace_function *functions,
			 uint32_t count, struct err *err)
{
	uint32_t known = (uint32_t)self->totals.functions;
	struct list_head which = { .process = self->source.process, .count = count };
	uint32_t *numbers = reallocarray(self->numbers, known + count, sizeof(*numbers));
	int r;

	if (!numbers)
		return err_set(err, -ENOMEM, "collect: no memory");
	self->numbers = numbers;
	r = recording_functions(self->recording, &which, functions, err);
	for (uint32_t i = 0; !r && i < count; i++) {
		numbers[known + i] = which.first + i;
		if (functions[i].domain == DOMAIN_WINDOW)
			self->window_function = which.first + i;
	}
	self->totals.functions += r ? 0 : count;
	return r;
}

/* Entries that the target has added are copied, made harmless, and written. */
static int learn_functions(struct collector *self, struct err *err)
{
	uint32_t known = (uint32_t)self->totals.functions;
	uint32_t count = MIN(rings_function_count(self->source.rings), self->layout.function_max);
	CLEANUP(free) struct trace_function *copy = NULL;

	if (count <= known)
		return 0;
	copy = calloc(count - known, sizeof(*copy));
	if (!copy)
		return err_set(err, -ENOMEM, "collect: no memory");
	memcpy(copy,
	       (const char *)self->source.rings + self->layout.functions_at + known * sizeof(*copy),
	       (count - known) * sizeof(*copy));
	for (uint32_t i = 0; i < count - known; i++)
		function_tame(&copy[i]);
	return learn_numbers(self, copy, count - known, err);
}

/* True when the record, a copy, may go into the recording; it names its function by the number
 * there then. */
static int is_sound(struct collector *self, struct slot *slot, struct record *record,
		    struct err *err)
{
	struct record_call *call = (struct record_call *)record;
	uint32_t function;
	int r;

	if (record->kind == RECORD_NAME)
		return true;
	if (record->kind != RECORD_CALL)
		return !slot->is_torn && record->kind != RECORD_STACK_NUMBER;
	function = call->function;
	r = function < self->totals.functions ? 0 : learn_functions(self, err);
	if (r)
		return r;
	slot->is_torn = function >= self->totals.functions;
	if (!slot->is_torn)
		call->function = self->numbers[function];
	return !slot->is_torn;
}

/* 1: part of a reading, not for the file.  A torn reading ends when the next one begins. */
static int take_reading(struct collector *self, struct slot *slot, const struct record *record,
			struct err *err)
{
	const struct record_call *call = (const struct record_call *)record;
	int r;

	if (record->kind == RECORD_CALL) {
		slot->is_reading = call->function == self->window_function;
		if (slot->is_reading && !reading_begin(&slot->draft, call))
			return err_set(err, -ENOMEM, "collect: no memory");
		return slot->is_reading;
	}
	if (record->kind != RECORD_COUNTS || !slot->is_reading)
		return 0;
	if (!reading_add(&slot->draft, record) || !self->source.take_reading)
		return 1;
	r = self->source.take_reading(self->source.reading_context, &slot->draft.reading, err);
	return r ? r : 1;
}

/* 1: it was a part of the next stack. */
static int take_python(struct slot *slot, const struct record *record, struct err *err)
{
	const struct record_python *python = (const struct record_python *)record;

	if (record->kind == RECORD_CALL)
		slot->python.size = 0;
	if (record->kind != RECORD_PYTHON)
		return 0;
	if (slot->python.size < PYTHON_BYTES_MAX)
		bytes_put(&slot->python, python + 1,
			  record->count * sizeof(struct interpreted_frame));
	slot->is_python_cut = python->is_cut;
	return slot->python.has_failed ? err_set(err, -ENOMEM, "collect: no memory") : 1;
}

static struct collect_stack stack_of(const struct slot *slot)
{
	return (struct collect_stack){
		.python = (const struct interpreted_frame *)slot->python.data,
		.python_count = slot->python.size / sizeof(struct interpreted_frame),
		.is_python_cut = slot->is_python_cut,
	};
}

/* The record to write: for some, the host's own in `ret` replaces it. */
static int number_stack(struct collector *self, const struct slot *slot,
			const struct record **record, struct record_stack_number *ret,
			struct err *err)
{
	struct collect_stack chain = stack_of(slot);
	const struct collect_callers *callers = &self->source.callers;
	const struct record_stack *stack = (const struct record_stack *)*record;
	int r;

	if (stack->head.kind != RECORD_STACK || !callers->number)
		return 0;
	chain.frames = (const uint64_t *)(stack + 1);
	chain.frame_count = stack->head.count;
	if (stack->is_caller && chain.frame_count == 1)
		r = callers->number_caller(callers->context, chain.frames[0], ret, err);
	else
		r = callers->number(callers->context, &chain, ret, err);
	*record = &ret->head;
	return r;
}

/* The copy of a stack is whole, or the rest of it was lost. */
static int end_stack(struct collector *self, struct slot *slot, struct err *err)
{
	const struct collect_callers *callers = &self->source.callers;
	struct collect_stack copied = stack_of(slot);
	struct record_stack_number number;
	int r = 0;

	if (!slot->stack.size)
		return 0;
	copied.caller = &slot->caller;
	copied.copy = slot->stack.data;
	copied.size = slot->stack.size;
	if (callers->unwind) {
		r = callers->unwind(callers->context, &copied, &number, err);
		if (!r && !slot_take(slot, &number.head, self->now_ns))
			r = err_set(err, -ENOMEM, "collect: no memory");
	}
	slot->stack.size = 0;
	return r;
}

/* 1: it was a part of a copy. */
static int take_stack_part(struct collector *self, struct slot *slot, const struct record *record,
			   struct err *err)
{
	const struct record_stack_part *part = (const struct record_stack_part *)record;
	int r = 0;

	if (record->kind != RECORD_STACK_PART || !record->count)
		r = end_stack(self, slot, err);
	if (r || record->kind != RECORD_STACK_PART)
		return r;
	if (!record->count)
		slot->caller = *part;
	/* A part that does not follow the one before was made up, or one is missing. */
	if (record->count * STACK_PART_BYTES != slot->stack.size)
		return 1;
	bytes_put(&slot->stack, part + 1, record->size - sizeof(*part));
	if (slot->stack.has_failed)
		return err_set(err, -ENOMEM, "collect: no memory");
	if (slot->stack.size >= slot->caller.bytes)
		r = end_stack(self, slot, err);
	return r ? r : 1;
}

static int collect_take(struct collector *self, struct slot *slot, struct record *record,
			struct err *err)
{
	const struct record *written = record;
	struct record_stack_number number;
	int r = is_sound(self, slot, record, err);

	if (r < 0)
		return r;
	if (!r) {
		self->totals.invalid++;
		return 0;
	}
	r = take_reading(self, slot, record, err);
	if (r)
		return MIN(r, 0);
	r = call_stack_take(&self->source.stacks, slot, record, self->now_ns);
	if (r)
		return r < 0 ? err_set(err, r, "collect: no memory") : 0;
	r = take_stack_part(self, slot, record, err);
	if (!r)
		r = take_python(slot, record, err);
	if (r)
		return MIN(r, 0);
	r = number_stack(self, slot, &written, &number, err);
	if (r)
		return r;
	if (!slot_take(slot, written, self->now_ns))
		return err_set(err, -ENOMEM, "collect: no memory");
	self->totals.records++;
	self->totals.record_bytes += record->size;
	return 0;
}

static const unsigned char *ring_data(const struct collector *self, uint32_t index)
{
	return (const unsigned char *)self->source.rings + self->layout.data_at +
	       index * self->layout.ring_size;
}

/* The kernel charges memory to the process that touches it first.  Where the target's memory is
 * limited that must be limpet: the collector touches each ring once, before its first thread
 * does. */
static void touch_ring(struct collector *self, uint32_t index, struct slot *slot)
{
	const volatile unsigned char *data = ring_data(self, index);

	if (slot->is_touched)
		return;
	slot->is_touched = true;
	for (uint64_t at = 0; at < self->layout.ring_size; at += PAGE_BYTES)
		(void)data[at];
}

/* At most one ring's worth, so that a fast thread does not delay the others. */
static long drain_ring(struct collector *self, uint32_t index, struct slot *slot, struct err *err)
{
	struct ring *ring = rings_slot(self->source.rings, index);
	const unsigned char *data = ring_data(self, index);
	_Alignas(uint64_t) unsigned char record[RECORD_MAX_BYTES];
	uint64_t bytes = 0;
	long size = 1;

	while (size > 0 && bytes < self->layout.ring_size) {
		size = ring_read(ring, data, self->layout.ring_size, record, sizeof(record));
		if (size < 0) {
			self->totals.invalid++;
			slot->is_torn = true;
		} else if (size > 0) {
			int r = collect_take(self, slot, (struct record *)record, err);

			if (r)
				return r;
			bytes += (uint64_t)size;
			if (slot_is_full(slot) && slot_flush(slot, self->recording, err))
				return err->code;
		}
	}
	self->fullest = MAX(self->fullest, bytes);
	return (long)bytes;
}

/* Checked before its ring is read for the last time. */
static bool has_ended(struct collector *self, struct slot *slot)
{
	bool is_scarce = self->used > self->layout.slot_count / 4 * 3;

	if (self->now_ns - slot->checked_ns < (is_scarce ? ASK_SCARCE_NS : ASK_NS))
		return false;
	slot->checked_ns = self->now_ns;
	return !self->source.is_alive(self->source.context, slot->thread.tid);
}

static int give_ring_back(struct collector *self, uint32_t index, struct slot *slot,
			  struct err *err)
{
	int r = end_stack(self, slot, err);

	if (!r)
		r = slot_flush(slot, self->recording, err);
	slot_end(slot);
	ring_release(rings_slot(self->source.rings, index));
	return r;
}

/* The thread that has the ring now, in the recording. */
static int meet_owner(struct collector *self, struct slot *slot, const struct ring_owner *owner,
		      struct err *err)
{
	char name[16] = "";
	int r;

	if (slot->is_known && slot->thread.generation == owner->generation &&
	    slot->thread.tid == owner->tid)
		return 0;
	r = slot->is_known ? slot_flush(slot, self->recording, err) : 0;
	if (!r)
		r = slot_begin(slot, self->recording, self->source.process, owner, err);
	if (r)
		return r;
	self->totals.threads++;
	slot->checked_ns = self->now_ns;
	if (self->source.thread_name && !owner->name[0] &&
	    self->source.thread_name(self->source.context, owner->tid, name))
		r = slot_rename(slot, self->recording, name, err);
	return r;
}

static int drain_slot(struct collector *self, uint32_t index, struct err *err)
{
	struct ring *ring = rings_slot(self->source.rings, index);
	struct slot *slot = &self->slots[index];
	struct ring_owner owner;
	bool is_over;
	long bytes;
	int r;

	if (!ring_owner(ring, &owner))
		return 0;
	self->used++;
	r = meet_owner(self, slot, &owner, err);
	if (r)
		return r;
	call_stack_answer(&self->source.stacks, slot, self->source.rings, ring, self->now_ns);
	touch_ring(self, index, slot);
	is_over = has_ended(self, slot);
	bytes = drain_ring(self, index, slot, err);
	if (bytes < 0)
		return (int)bytes;
	slot_count_drops(slot, ring, self->now_ns, self->totals.drops);
	if (is_over && !bytes)
		return give_ring_back(self, index, slot, err);
	if (is_over)
		slot->checked_ns = 0; /* drain it first; checked again in the next pass */
	return slot_is_due(slot, self->now_ns) ? slot_flush(slot, self->recording, err) : 0;
}

/* Counts drops of threads without a ring. */
static int count_drops_without_ring(struct collector *self, struct err *err)
{
	uint64_t count = rings_drops_without_ring(self->source.rings);
	uint64_t more = count - self->drops_without_ring;
	struct recorded_drops drops = { self->source.process, THREAD_NONE, { 0 } };

	if (!more || self->now_ns - self->drops_without_ring_ns < ASK_NS)
		return 0;
	self->drops_without_ring = count;
	self->drops_without_ring_ns = self->now_ns;
	self->totals.drops[DROP_NO_RING] += more;
	drops.counts[DROP_NO_RING] = count;
	return recording_item(self->recording, CHUNK_DROPS, &drops, err);
}

static void show_totals(struct collector *self)
{
	worker_lock(&self->worker);
	self->shown = self->totals;
	worker_unlock(&self->worker);
}

long collector_drain(struct collector *self, struct err *err)
{
	uint64_t before = self->totals.records;
	int r;

	self->now_ns = now_ns();
	self->used = 0;
	self->fullest = 0;
	r = learn_functions(self, err);
	for (uint32_t i = 0; !r && i < self->layout.slot_count; i++)
		r = drain_slot(self, i, err);
	if (!r)
		r = count_drops_without_ring(self, err);
	show_totals(self);
	return r ? r : (long)(self->totals.records - before);
}

static int finish_slot(struct collector *self, struct slot *slot, struct err *err)
{
	char name[16] = "";
	int r = end_stack(self, slot, err);

	if (!r)
		r = slot_flush(slot, self->recording, err);

	if (!r && self->source.thread_name &&
	    self->source.thread_name(self->source.context, slot->thread.tid, name))
		r = slot_rename(slot, self->recording, name, err);
	return r;
}

int collector_finish(struct collector *self, struct err *err)
{
	long r = 1;

	/* Bounded: a target may go on writing. */
	for (unsigned pass = 0; r > 0 && pass < FINISH_PASSES; pass++)
		r = collector_drain(self, err);
	self->drops_without_ring_ns = 0;
	if (r >= 0)
		r = count_drops_without_ring(self, err);
	for (uint32_t i = 0; r >= 0 && i < self->layout.slot_count; i++)
		if (self->slots[i].is_known)
			r = finish_slot(self, &self->slots[i], err);
	show_totals(self);
	return r < 0 ? (int)r : 0;
}

void collector_totals(struct collector *self, struct collect_totals *ret)
{
	worker_lock(&self->worker);
	*ret = self->shown;
	worker_unlock(&self->worker);
}
