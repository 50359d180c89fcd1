/*
 * Converts CUPTI's records into limpet's. Runs on CUPTI's thread, or on limpet's thread during a
 * flush: no locks, no libc. If the ring is full, the thread waits briefly for the host, because no
 * application call waits here.
 */
#include "target/domains/cuda/cuda.h"

#include "target/runtime/kernel_clock.h"

#define ROOM_BYTES (4u * RECORD_MAX_BYTES) /* a record with all names written before it */
#define NAP_NS     500000
#define NAPS_MAX   400u /* in one buffer */

static const struct cupti *cupti;
static struct cuda_tally tally;
static struct cuda_wear wear;
static uint32_t care;           /* bits of enum cuda_care */
static uint64_t ended_ns;       /* end of the subscription, by CUPTI's clock */
static struct writer_pass pass; /* lets limpet's own thread write */

void activities_use(const struct cupti *given, uint32_t cares)
{
	cupti = given;
	care = cares;
	tally = (struct cuda_tally){ 0 };
	activities_renew();
}

void activities_renew(void)
{
	__atomic_store_n(&wear.records, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&wear.timeless, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&ended_ns, UINT64_MAX, __ATOMIC_RELAXED);
}

void activities_end(void)
{
	uint64_t now;

	if (care & CARE_CUT_GRAPHS && !cupti->timestamp(&now))
		__atomic_store_n(&ended_ns, now, __ATOMIC_RELAXED);
}

struct cuda_wear activities_wear(void)
{
	return (struct cuda_wear){ __atomic_load_n(&wear.records, __ATOMIC_RELAXED),
				   __atomic_load_n(&wear.timeless, __ATOMIC_RELAXED) };
}

struct cuda_tally activities_tally(void)
{
	return (struct cuda_tally){ __atomic_load_n(&tally.cut, __ATOMIC_RELAXED),
				    __atomic_load_n(&tally.dropped, __ATOMIC_RELAXED),
				    __atomic_load_n(&tally.unwritten, __ATOMIC_RELAXED),
				    __atomic_load_n(&tally.misled, __ATOMIC_RELAXED) };
}

/* Shared by the records of one buffer. */
struct reading {
	struct writer *writer;
	struct clock_rate now;
	unsigned naps;
};

struct times {
	uint64_t begin, end;
};

/* An unrecorded launch of a graph overwrites the end time of the graph's last recorded launch,
 * until CUPTI has delivered that record (hazards.def). */
static bool may_be_overwritten(const struct cupti_work *work)
{
	return work->graph_node && work->end >= __atomic_load_n(&ended_ns, __ATOMIC_RELAXED);
}

/* False: the work was not finished, so the record has no valid times. */
static bool read_times(const struct reading *reading, const struct cupti_work *work,
		       struct times *ret)
{
	if (may_be_overwritten(work)) {
		__atomic_fetch_add(&tally.cut, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (!work->start || !work->end || work->end < work->start) {
		__atomic_fetch_add(&tally.cut, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&wear.timeless, 1, __ATOMIC_RELAXED);
		return false;
	}
	ret->begin = cuda_clock_ticks(&reading->now, work->start);
	ret->end = cuda_clock_ticks(&reading->now, work->end);
	return true;
}

/* CUPTI may give a graph's kernel the number of another call (hazards.def): then it has no
 * cause. */
static struct cuda_cause find_cause(uint32_t correlation, uint64_t graph_node)
{
	struct cuda_cause cause;

	if (!cause_find(correlation, &cause))
		return (struct cuda_cause){ 0 };
	if (!(care & CARE_CHECK_GRAPHS) || !graph_node || cause.is_graph)
		return cause;
	__atomic_fetch_add(&tally.misled, 1, __ATOMIC_RELAXED);
	return (struct cuda_cause){ 0 };
}

static void write_kernel(const struct reading *reading, const struct cupti_kernel *kernel)
{
	struct writer *writer = reading->writer;
	const struct cupti_work *work = &kernel->work;
	struct cuda_cause cause = find_cause(work->correlation, work->graph_node);
	uint64_t stream = cuda_stream(writer, work->context, work->stream);
	const uint64_t values[] = {
		kernel->name ? work_kernel(writer, kernel->name) : 0,
		cuda_device(writer, work->device),
		stream,
		stream,
		(uint64_t)cause.thread,
		cause.begin,
		work_dispatch(),
		(uint64_t)kernel->grid[0] * kernel->block[0],
		(uint64_t)kernel->grid[1] * kernel->block[1],
		(uint64_t)kernel->grid[2] * kernel->block[2],
		kernel->block[0],
		kernel->block[1],
		kernel->block[2],
		kernel->local_bytes,
		kernel->shared_bytes,
	};
	struct times times;

	if (read_times(reading, work, &times))
		(void)work_write(writer, DOMAIN_KERNEL, times.begin, times.end, values);
}

static void convert_kernel(const struct reading *reading, const uint8_t *record)
{
	struct cupti_kernel kernel;

	layout_kernel(record, &kernel);
	write_kernel(reading, &kernel);
}

/* Recorded as a kernel of the driver, because AMD's runtimes also fill memory by a kernel. */
static void convert_memset(const struct reading *reading, const uint8_t *record)
{
	struct cupti_kernel kernel = { .name = "[memset]" };
	struct cupti_copy copy;

	layout_memset(record, &copy);
	kernel.work = copy.work;
	write_kernel(reading, &kernel);
}

/* By CUpti_ActivityMemcpyKind; arrays count as device memory. */
static const uint8_t directions[] = {
	COPY_UNKNOWN,          COPY_HOST_TO_DEVICE,   COPY_DEVICE_TO_HOST,   COPY_HOST_TO_DEVICE,
	COPY_DEVICE_TO_HOST,   COPY_DEVICE_TO_DEVICE, COPY_DEVICE_TO_DEVICE, COPY_DEVICE_TO_DEVICE,
	COPY_DEVICE_TO_DEVICE, COPY_HOST_TO_HOST,     COPY_DEVICE_TO_DEVICE,
};

static void write_copy(const struct reading *reading, const struct cupti_copy *copy)
{
	struct writer *writer = reading->writer;
	const struct cupti_work *work = &copy->work;
	struct cuda_cause cause = find_cause(work->correlation, work->graph_node);
	unsigned direction =
		copy->kind < ARRAY_SIZE(directions) ? directions[copy->kind] : COPY_UNKNOWN;
	uint64_t stream = cuda_stream(writer, work->context, work->stream);
	uint64_t to = cuda_device(writer, copy->to_device);
	uint64_t from = cuda_device(writer, copy->from_device);
	const uint64_t values[] = {
		copy->bytes,
		direction == COPY_DEVICE_TO_HOST || direction == COPY_HOST_TO_HOST ? 0 : to,
		direction == COPY_HOST_TO_DEVICE || direction == COPY_HOST_TO_HOST ? 0 : from,
		0,
		0,
		direction,
		stream,
		stream,
		(uint64_t)cause.thread,
		cause.begin,
	};
	struct times times;

	if (read_times(reading, work, &times))
		(void)work_write(writer, DOMAIN_COPY, times.begin, times.end, values);
}

static void convert_copy(const struct reading *reading, const uint8_t *record)
{
	struct cupti_copy copy;

	layout_copy(record, &copy);
	write_copy(reading, &copy);
}

static void convert_peer_copy(const struct reading *reading, const uint8_t *record)
{
	struct cupti_copy copy;

	layout_peer_copy(record, &copy);
	write_copy(reading, &copy);
}

/* CUPTI's kinds of host memory, and of memory operations. */
enum { PAGEABLE = 1, PINNED = 2 };
enum { ALLOCATED = 1, RELEASED = 2 };

static void convert_memory(const struct reading *reading, const uint8_t *record)
{
	struct writer *writer = reading->writer;
	struct cupti_memory memory;
	struct cuda_cause cause;
	uint64_t device, at;

	layout_memory(record, &memory);
	if (memory.operation != ALLOCATED && memory.operation != RELEASED)
		return;
	cause = find_cause(memory.correlation, 0);
	device = cuda_device(writer, memory.device);
	at = cuda_clock_ticks(&reading->now, memory.time);
	(void)work_write(
		writer, DOMAIN_MEMORY, at, at,
		(const uint64_t[]){ memory.bytes, memory.address,
				    memory.kind == PAGEABLE || memory.kind == PINNED ? 0 : device,
				    memory.operation == ALLOCATED ? MEMORY_ALLOCATE : MEMORY_FREE,
				    0, 0, (uint64_t)cause.thread, cause.begin });
}

static const struct {
	enum cupti_kind kind;
	void (*take)(const struct reading *reading, const uint8_t *record);
} converters[] = {
	{ CUPTI_CONCURRENT_KERNEL, convert_kernel },
	{ CUPTI_COPY, convert_copy },
	{ CUPTI_MEMSET, convert_memset },
	{ CUPTI_PEER_COPY, convert_peer_copy },
	{ CUPTI_MEMORY, convert_memory },
};

static void convert_record(const struct reading *reading, const uint8_t *record)
{
	enum cupti_kind kind = layout_kind(record);

	for (unsigned i = 0; i < ARRAY_SIZE(converters); i++)
		if (converters[i].kind == kind)
			converters[i].take(reading, record);
}

static void convert_records(struct reading *reading, uint8_t *buffer, size_t valid)
{
	const uint8_t *record = NULL;
	uint64_t count = 0;

	while (!cupti->next_record(buffer, valid, &record) && record) {
		while (!writer_has_room(reading->writer, ROOM_BYTES) && reading->naps++ < NAPS_MAX)
			sleep_ns(NAP_NS);
		convert_record(reading, record);
		count++;
	}
	__atomic_fetch_add(&wear.records, count, __ATOMIC_RELAXED);
}

/* CUPTI's thread has no ring, or must not read the counter: the records are lost and counted. */
static void count_unwritten(uint8_t *buffer, size_t valid)
{
	const uint8_t *record = NULL;
	uint64_t count = 0;

	while (!cupti->next_record(buffer, valid, &record) && record)
		count++;
	__atomic_fetch_add(&tally.unwritten, count, __ATOMIC_RELAXED);
}

static void count_dropped(void *context, uint32_t stream)
{
	size_t count = 0;

	if (!cupti->dropped(context, stream, &count) && count)
		__atomic_fetch_add(&tally.dropped, count, __ATOMIC_RELAXED);
}

void activities_convert(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	bool is_admitted = writer_admit(&pass);
	writer_seal seal;
	struct reading reading = { clock_may_be_read() ? writer_begin(&seal) : NULL, { 0 }, 0 };

	(void)size;
	if (reading.writer && valid) {
		reading.now = clock_now();
		convert_records(&reading, buffer, valid);
		count_dropped(context, stream);
	} else if (valid) {
		count_unwritten(buffer, valid);
	}
	if (reading.writer)
		writer_end(reading.writer, &seal);
	if (is_admitted)
		writer_dismiss(&pass);
	buffer_recycle(buffer, valid);
}
