/*
 * Writes work of devices. Runs on the thread that finds out about it: no libc, no waiting.
 */
#include "target/amd/sinks/ring/ring.h"

#include "target/amd/hsa/layouts.h"
#include "target/amd/tables/call.h"
#include "target/hooks/clock.h"
#include "target/hooks/work.h"
#include "target/runtime/text.h"

#define DEVICES_MAX 128u
#define TEXT_MAX    3072u
#define NAME_ROOM   48u
#define SPARED      (1ull << 63)

_Static_assert(DEVICES_MAX <= WORK_NUMBERS, "they have names");

static char texts[DEVICES_MAX][TEXT_MAX];
static uint32_t described[DEVICES_MAX]; /* the session in which the device was described */
static struct writer_pass pass;
static uint32_t wanted; /* bits */

void ring_use_domains(uint32_t domains)
{
	__atomic_store_n(&wanted, domains, __ATOMIC_RELAXED);
}

bool ring_wants(enum trace_domain domain)
{
	return __atomic_load_n(&wanted, __ATOMIC_RELAXED) >> domain & 1;
}

/* Maps HIP's queues and streams to small numbers, from 1 on; 0 if there are too many. A spared item
 * keeps its number until another item needs it. */
struct numbers {
	uint64_t items[WORK_NUMBERS];
};
static struct numbers queues, streams;

static bool number_claim(uint64_t *slot, uint64_t there, uint64_t item)
{
	return __atomic_compare_exchange_n(slot, &there, item, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED) ||
	       there == item;
}

static uint64_t number_find(struct numbers *numbers, uint64_t item)
{
	for (unsigned i = 1; i < WORK_NUMBERS; i++) {
		uint64_t there = __atomic_load_n(&numbers->items[i], __ATOMIC_RELAXED);

		if ((there & ~SPARED) == item ||
		    (!there && number_claim(&numbers->items[i], 0, item)))
			return i;
	}
	return 0;
}

static uint64_t number_of(struct numbers *numbers, uint64_t item)
{
	uint64_t found = number_find(numbers, item);

	for (unsigned i = 1; !found && i < WORK_NUMBERS; i++) {
		uint64_t there = __atomic_load_n(&numbers->items[i], __ATOMIC_RELAXED);

		if (there & SPARED && number_claim(&numbers->items[i], there, item))
			found = i;
	}
	return found;
}

void record_stream_end(uint64_t stream)
{
	for (unsigned i = 1; i < WORK_NUMBERS; i++)
		if (__atomic_load_n(&streams.items[i], __ATOMIC_RELAXED) == stream)
			(void)number_claim(&streams.items[i], stream, stream | SPARED);
}

void records_start(const struct amd_engine *engine)
{
	work_dispatch_use(engine->dispatches);
	queues = streams = (struct numbers){ 0 };
}

void records_name_devices(const struct amd_engine *engine)
{
	for (unsigned i = 0; i < DEVICES_MAX; i++)
		if (described[i] != writers_session() &&
		    engine->describe(i, texts[i], sizeof(texts[i])))
			/* Release: pairs with device_name(). */
			__atomic_store_n(&described[i], writers_session(), __ATOMIC_RELEASE);
}

static void device_name(struct writer *writer, uint64_t device)
{
	if (device >= DEVICES_MAX)
		return;
	if (__atomic_load_n(&described[device], __ATOMIC_ACQUIRE))
		work_name(writer, NAME_DEVICE, device, texts[device]);
	else
		work_name(writer, NAME_DEVICE, device,
			  device ? "type=gpu\nname=\n" : "type=cpu\nname=host\n");
}

/* Begin and end in ticks; where times are unknown, from the request until the end was found. */
struct span {
	uint64_t begin, end;
};

static struct span span_of(struct writer *writer, const struct device_times *times)
{
	struct span span = { times->asked_ticks, times->seen_ticks };
	struct clock_rate now;

	if (times->seen_ticks && !times->begin_ns)
		return span;
	now = clock_recent(&writer->clock);
	span.begin = clock_ticks_at(&now, times->begin_ns);
	span.end = clock_ticks_at(&now, times->end_ns);
	return span;
}

static uint64_t queue_number(uint64_t device, uint64_t queue, bool is_of_hip)
{
	if (is_of_hip)
		return number_of(&queues, ((device << 32 | queue) & ~SPARED) + 1);
	return queue < WORK_NUMBERS ? queue : 0;
}

/* Kernel symbols are named NAME.kd since code object version 3. */
static uint64_t symbol_number(struct writer *writer, const char *name)
{
	size_t length = text_length(name);

	if (length > 3 && text_equal(name + length - 3, ".kd"))
		length -= 3;
	return work_kernel_hashed(writer, name, work_hash(name, length), length);
}

uint64_t record_name(const char *name, uint64_t object)
{
	char made[NAME_ROOM] = "kernel object ";
	writer_seal seal;
	struct writer *writer = writer_begin(&seal);
	uint64_t number;

	if (!writer)
		return 0;
	text_add_number(made, sizeof(made), text_length(made), object);
	number = name ? symbol_number(writer, name) : work_kernel(writer, made);
	writer_end(writer, &seal);
	return number;
}

#define KERNEL_VALUES 15u

/* Of a kernel; the last one is of a counted kernel. */
struct kernel_values {
	uint64_t all[KERNEL_VALUES + 1];
};

static struct kernel_values kernel_values(struct writer *writer, const struct dispatch_event *event)
{
	return (struct kernel_values){ {
		event->is_of_hip && event->name
			? work_kernel_hashed(writer, event->name, event->name_hash, NAME_BYTES_MAX)
			: event->ring_name,
		event->device,
		queue_number(event->device, event->queue, event->is_of_hip),
		event->stream ? number_of(&streams, event->stream) : 0,
		event->thread,
		event->cause,
		event->dispatch ? event->dispatch : work_dispatch(),
		event->grid[0],
		event->grid[1],
		event->grid[2],
		event->group[0],
		event->group[1],
		event->group[2],
		event->private_bytes,
		event->group_bytes,
	} };
}

/* limpet's threads have no writer of their own, and need a pass. */
static struct writer *record_begin(writer_seal *seal, bool *ret_admitted)
{
	struct writer *writer;

	*ret_admitted = false;
	if (!clock_may_be_read())
		return NULL;
	*ret_admitted = writer_admit(&pass);
	writer = writer_begin(seal);
	if (!writer && *ret_admitted)
		writer_dismiss(&pass);
	return writer;
}

static void record_end(struct writer *writer, writer_seal *seal, bool is_admitted)
{
	writer_end(writer, seal);
	if (is_admitted)
		writer_dismiss(&pass);
}

void record_kernel(const struct dispatch_event *event)
{
	struct kernel_values values;
	writer_seal seal;
	struct writer *writer;
	struct span span;

	if (!ring_wants(DOMAIN_KERNEL) || !clock_may_be_read())
		return;
	writer = writer_begin(&seal);
	if (!writer)
		return;
	span = span_of(writer, &event->times);
	device_name(writer, event->device);
	values = kernel_values(writer, event);
	(void)work_write(writer, DOMAIN_KERNEL, span.begin, span.end, values.all);
	writer_end(writer, &seal);
}

void record_copy(const struct copy_event *event)
{
	writer_seal seal;
	struct writer *writer;
	struct span span;

	if (!ring_wants(DOMAIN_COPY) || !clock_may_be_read())
		return;
	writer = writer_begin(&seal);
	if (!writer)
		return;
	span = span_of(writer, &event->times);
	device_name(writer, event->is_of_hip ? 0 : event->from_device);
	device_name(writer, event->is_of_hip ? event->device : event->to_device);
	(void)work_write(
		writer, DOMAIN_COPY, span.begin, span.end,
		(const uint64_t[]){
			event->bytes,
			event->to_device,
			event->from_device,
			event->to,
			event->from,
			event->direction,
			event->is_of_hip ? queue_number(event->device, event->queue, true) : 0,
			event->stream ? number_of(&streams, event->stream) : 0,
			event->thread,
			event->cause,
		});
	writer_end(writer, &seal);
}

void record_memory(const struct memory_event *event)
{
	const struct call_frame *frame = event->frame;
	writer_seal seal;
	struct writer *writer;

	if (!ring_wants(DOMAIN_MEMORY) || !clock_may_be_read())
		return;
	writer = writer_begin(&seal);
	if (!writer)
		return;
	device_name(writer, event->device);
	(void)work_write(writer, DOMAIN_MEMORY, frame->begin, event->end,
			 (const uint64_t[]){ event->bytes, event->address, event->device,
					     event->operation, 0, 0,
					     (uint64_t)frame->thread->number, event->cause });
	writer_end(writer, &seal);
}

void record_scratch(const struct scratch_event *event)
{
	writer_seal seal;
	struct writer *writer;

	if (!ring_wants(DOMAIN_SCRATCH))
		return;
	if (!clock_may_be_read()) {
		writer_count_lost();
		return;
	}
	writer = writer_begin(&seal);
	if (!writer)
		return;
	(void)work_write(writer, DOMAIN_SCRATCH, event->begin, event->end,
			 (const uint64_t[]){ event->bytes, DEVICE_UNKNOWN,
					     event->queue ? event->queue->id : 0, event->operation,
					     event->flags, event->thread, 0 });
	writer_end(writer, &seal);
}

static void counts_write(struct writer *writer, const struct event_counts *from)
{
	struct record_count counts[RECORD_COUNTS_MAX];

	for (uint32_t i = 0; i < from->count;) {
		unsigned filled = 0;

		for (; filled < RECORD_COUNTS_MAX && i < from->count; i++, filled++)
			counts[filled] = (struct record_count){ from->ids[i], from->values[i] };
		writer_counts(writer, counts, filled);
	}
}

/* Room for all of it: a part of the counts would pass for all of them. */
static bool has_room(const struct writer *writer, const struct event_counts *counts,
		     unsigned value_count)
{
	size_t records = counts->count / RECORD_COUNTS_MAX + 1;

	return counts->count &&
	       writer_has_room(writer, record_call_size(value_count) +
					       records * sizeof(struct record_counts) +
					       counts->count * sizeof(struct record_count));
}

void record_counted(const struct counted_event *event)
{
	struct kernel_values values = { 0 };
	bool is_admitted, has_counts;
	writer_seal seal;
	struct writer *writer = record_begin(&seal, &is_admitted);
	struct span span;

	if (!writer)
		return;
	device_name(writer, event->kernel.device);
	if (event->flags & COUNTER_OTHER) {
		values.all[1] = event->kernel.device;
		values.all[2] = queue_number(0, event->kernel.queue, false);
	} else {
		values = kernel_values(writer, &event->kernel);
	}
	has_counts = has_room(writer, &event->counts, ARRAY_SIZE(values.all));
	values.all[KERNEL_VALUES] = event->flags | (has_counts ? 0 : COUNTER_INCOMPLETE);
	span = span_of(writer, &event->kernel.times);
	if (work_write(writer, DOMAIN_COUNTER, span.begin, span.end, values.all) && has_counts)
		counts_write(writer, &event->counts);
	record_end(writer, &seal, is_admitted);
}

void record_window(const struct window_event *event)
{
	const uint64_t values[] = { event->device, event->counts.count };
	bool is_admitted;
	writer_seal seal;
	struct writer *writer = record_begin(&seal, &is_admitted);

	if (!writer)
		return;
	device_name(writer, event->device);
	if (has_room(writer, &event->counts, ARRAY_SIZE(values)) &&
	    work_write(writer, DOMAIN_WINDOW, event->begin, event->at, values))
		counts_write(writer, &event->counts);
	record_end(writer, &seal, is_admitted);
}
