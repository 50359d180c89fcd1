/*
 * Writes a recording of a GPU program that never ran: calls of every runtime, kernels on two
 * devices and queues, copies, device memory, scratch memory, markers.  Says what must be in it: one
 * JSON object on stdout.
 *
 *   usage: make_gpu_recording FILE ROUNDS [PROCESSES [KERNELS]]
 *
 * With KERNELS, so many kernels have a name of their own, one after the other.
 * A round is about 2000 ticks long.  Work of devices is written by a thread that only waits for it,
 * as runtimes do it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/recording/pack.h"
#include "host/recording/recording.h"
#include "shared/arch/ticks.h"

#define FLUSH_BYTES (256u << 10)
#define ROUND_TICKS 2000u
#define REDUCE_ID   9001u /* numbers of kernels have gaps */
#define MANY_ID     20000u

enum {
	HIP_MALLOC,
	HIP_FREE,
	HIP_MEMCPY,
	HIP_LAUNCH,
	HIP_PUSH,
	HSA_SIGNAL,
	HSA_POOL,
	HSA_IMAGE,
	HSA_PROGRAM,
	ALL_REDUCE,
	CL_ENQUEUE,
	MALLOC,
	MARK,
	PUSH,
	POP,
	START,
	STOP,
	PAUSE,
	KERNEL,
	COPY,
	MEMORY,
	SCRATCH,
	FUNCTIONS
};

#define KERNEL_VALUES                                                                            \
	15,                                                                                      \
	{                                                                                        \
		VALUE_NAME, VALUE_DEVICE, VALUE_QUEUE, VALUE_STREAM, VALUE_THREAD, VALUE_CAUSE,  \
			VALUE_DISPATCH, VALUE_GRID_X, VALUE_GRID_Y, VALUE_GRID_Z, VALUE_GROUP_X, \
			VALUE_GROUP_Y, VALUE_GROUP_Z, VALUE_SCRATCH_BYTES, VALUE_LOCAL_BYTES     \
	}
#define COPY_VALUES                                                                            \
	10,                                                                                    \
	{                                                                                      \
		VALUE_SIZE, VALUE_DEVICE, VALUE_FROM_DEVICE, VALUE_ADDRESS, VALUE_OLD_ADDRESS, \
			VALUE_DIRECTION, VALUE_QUEUE, VALUE_STREAM, VALUE_THREAD, VALUE_CAUSE  \
	}
#define MEMORY_VALUES                                                                  \
	8,                                                                             \
	{                                                                              \
		VALUE_SIZE, VALUE_ADDRESS, VALUE_DEVICE, VALUE_OPERATION, VALUE_QUEUE, \
			VALUE_STREAM, VALUE_THREAD, VALUE_CAUSE                        \
	}
#define SCRATCH_VALUES                                                                             \
	7,                                                                                         \
	{                                                                                          \
		VALUE_SIZE, VALUE_DEVICE, VALUE_QUEUE, VALUE_OPERATION, VALUE_FLAGS, VALUE_THREAD, \
			VALUE_CAUSE                                                                \
	}
#define RESULT               \
	1,                   \
	{                    \
		VALUE_RESULT \
	}

static const struct trace_function functions[FUNCTIONS] = {
	[HIP_MALLOC] = { "hipMalloc", "libamdhip64.so.6", DOMAIN_HIP_RUNTIME, RESULT },
	[HIP_FREE] = { "hipFree", "libamdhip64.so.6", DOMAIN_HIP_RUNTIME, RESULT },
	[HIP_MEMCPY] = { "hipMemcpyAsync", "libamdhip64.so.6", DOMAIN_HIP_RUNTIME, RESULT },
	[HIP_LAUNCH] = { "hipLaunchKernel", "libamdhip64.so.6", DOMAIN_HIP_RUNTIME, RESULT },
	[HIP_PUSH] = { "__hipPushCallConfiguration", "libamdhip64.so.6", DOMAIN_HIP_COMPILER,
		       RESULT },
	[HSA_SIGNAL] = { "hsa_signal_create", "libhsa-runtime64.so.1", DOMAIN_HSA_CORE, RESULT },
	[HSA_POOL] = { "hsa_amd_memory_pool_allocate", "libhsa-runtime64.so.1", DOMAIN_HSA_AMD,
		       RESULT },
	[HSA_IMAGE] = { "hsa_ext_image_create", "libhsa-runtime64.so.1", DOMAIN_HSA_IMAGE, RESULT },
	[HSA_PROGRAM] = { "hsa_ext_program_create", "libhsa-runtime64.so.1", DOMAIN_HSA_FINALIZER,
			  RESULT },
	[ALL_REDUCE] = { "ncclAllReduce", "librccl.so.1", DOMAIN_RCCL, RESULT },
	[CL_ENQUEUE] = { "clEnqueueNDRangeKernel", "libOpenCL.so.1", DOMAIN_OPENCL, RESULT },
	[MALLOC] = { "malloc", "libc.so.6", DOMAIN_ALLOC, 2, { VALUE_SIZE, VALUE_ADDRESS } },
	[MARK] = { "roctxMarkA", "libroctx64.so.4", DOMAIN_MARKER, 0, { 0 } },
	[PUSH] = { "roctxRangePushA", "libroctx64.so.4", DOMAIN_MARKER, RESULT },
	[POP] = { "roctxRangePop", "libroctx64.so.4", DOMAIN_MARKER, RESULT },
	[START] = { "roctxRangeStartA", "libroctx64.so.4", DOMAIN_MARKER, 1, { VALUE_ID } },
	[STOP] = { "roctxRangeStop", "libroctx64.so.4", DOMAIN_MARKER, 1, { VALUE_ID } },
	[PAUSE] = { "roctxProfilerPause", "libroctx64.so.4", DOMAIN_MARKER, RESULT },
	[KERNEL] = { "kernel", "", DOMAIN_KERNEL, KERNEL_VALUES },
	[COPY] = { "copy", "", DOMAIN_COPY, COPY_VALUES },
	[MEMORY] = { "memory", "", DOMAIN_MEMORY, MEMORY_VALUES },
	[SCRATCH] = { "scratch", "", DOMAIN_SCRATCH, SCRATCH_VALUES },
};

static const struct {
	uint16_t space;
	uint64_t id;
	const char *text;
} names[] = {
	{ NAME_KERNEL, 1, "_Z6vecAddPKfS0_Pfi.kd" },
	{ NAME_KERNEL, 2, "plain_kernel" },
	{ NAME_KERNEL, REDUCE_ID, "_ZN4math6TensorIfE6reduceEPKfi.kd" },
	{ NAME_DEVICE, 0,
	  "type=cpu\nname=A \"host\", processor\nvendor=CPU\nproduct=\n"
	  "cpu_cores_count=96\nsimd_count=0\n" },
	{ NAME_DEVICE, 1,
	  "type=gpu\nname=gfx942\nvendor=AMD\nproduct=Instinct one\nmodel=ip\nsimd_count=1216\n"
	  "simd_per_cu=4\narray_count=32\nsimd_arrays_per_engine=1\ndevice_id=29857\n"
	  "max_waves_per_simd=8\nunique_id=258\nnobody_knows=7\n" },
	{ NAME_DEVICE, 2, "type=gpu\nname=gfx90a\nvendor=AMD\nproduct=Instinct two\n" },
	{ NAME_QUEUE, 1, "queue of compute" },
};

/* One thread of the program. */
struct writer {
	struct recording *recording;
	struct recorded_thread thread;
	struct packer packer;
	struct bytes packed;
	struct records_head head;
	struct err err;
};

static struct writer api, other, waiter;
static uint64_t many_kernels;
static uint64_t calls[FUNCTIONS], kernel_calls[4], direction_calls[COPY_DIRECTIONS], records, bytes;

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void reset(struct writer *writer)
{
	writer->packed.size = 0;
	if (!bytes_reserve(&writer->packed, RECORDS_HEAD_BYTES))
		fail("no memory");
	writer->packed.size = RECORDS_HEAD_BYTES;
	writer->packer = (struct packer){ 0 };
	writer->head.count = 0;
}

static void begin(struct writer *writer, struct recording *recording, uint32_t process, int tid,
		  const char *name)
{
	writer->recording = recording;
	writer->thread = (struct recorded_thread){ .process = process, .tid = tid, .name = name };
	if (recording_thread(recording, &writer->thread, &writer->err))
		fail(writer->err.what);
	writer->head.thread = writer->thread.number;
	reset(writer);
}

static void flush(struct writer *writer)
{
	if (writer->head.count &&
	    recording_records(writer->recording, &writer->head, &writer->packed, &writer->err))
		fail(writer->err.what);
	writer->head.sequence++;
	reset(writer);
}

static void put(struct writer *writer, const struct record *record)
{
	unsigned char *at = bytes_reserve(&writer->packed, PACKED_MAX);

	if (!at || record_check(record, record->size))
		fail("a record that makes no sense");
	writer->packed.size += (size_t)(pack(&writer->packer, record, at) - at);
	writer->head.count++;
	records++;
	bytes += record->size;
	if (writer->packed.size > FLUSH_BYTES)
		flush(writer);
}

static void put_call(struct writer *writer, unsigned function, uint64_t begin_tick,
		     uint64_t end_tick, const uint64_t *values)
{
	unsigned count = functions[function].value_count;
	union {
		struct record_call call;
		uint64_t room[32];
	} record = { 0 };

	record.call = (struct record_call){ { (uint16_t)record_call_size(count), RECORD_CALL,
					      (uint8_t)count },
					    function,
					    begin_tick,
					    end_tick };
	if (count)
		memcpy(&record.call + 1, values, count * sizeof(*values));
	put(writer, &record.call.head);
	calls[function]++;
}

static void put_text(struct writer *writer, const char *text)
{
	size_t length = strlen(text), size = ALIGN_UP(sizeof(struct record_text) + length, 8);
	union {
		struct record_text text;
		uint64_t room[40];
	} record = { 0 };

	record.text = (struct record_text){ { (uint16_t)size, RECORD_TEXT, 0 }, (uint32_t)length };
	memcpy(&record.text + 1, text, length);
	put(writer, &record.text.head);
}

static void put_name(struct writer *writer, uint16_t space, uint64_t id, const char *text)
{
	size_t length = strlen(text), size = ALIGN_UP(sizeof(struct record_name) + length, 8);
	union {
		struct record_name name;
		uint64_t room[64];
	} record = { 0 };

	record.name = (struct record_name){
		{ (uint16_t)size, RECORD_NAME, 0 }, (uint16_t)length, space, id
	};
	memcpy(&record.name + 1, text, length);
	put(writer, &record.name.head);
}

static void put_names(struct writer *writer)
{
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put_name(writer, names[i].space, names[i].id, names[i].text);
	for (uint64_t i = 0; i < many_kernels; i++) {
		snprintf(text, sizeof(text), "kernel_%lu_of_the_program", i);
		put_name(writer, NAME_KERNEL, MANY_ID + i, text);
	}
}

static void put_kernel(uint64_t name, uint64_t device, uint64_t tid, uint64_t cause,
		       uint64_t begin_tick)
{
	static uint64_t dispatch;
	uint64_t id = many_kernels ? MANY_ID + dispatch % many_kernels
		      : name == 3  ? REDUCE_ID
				   : name;
	uint64_t values[] = { id,   device, device, device - 1, tid, cause, ++dispatch, 1024,
			      name, 1,      256,    1,          1,   16,    512 };

	put_call(&waiter, KERNEL, begin_tick, begin_tick + 300 + name, values);
	kernel_calls[name]++;
}

static void put_copy(uint64_t size, uint64_t to, uint64_t from, uint64_t cause, uint64_t begin_tick)
{
	uint64_t direction = to && from ? COPY_DEVICE_TO_DEVICE
			     : to       ? COPY_HOST_TO_DEVICE
					: COPY_DEVICE_TO_HOST;
	uint64_t values[] = { size,      to, from, 0x7f0000001000, 0x7f0000002000,
			      direction, 1,  1,    1001,           cause };

	put_call(&waiter, COPY, begin_tick, begin_tick + 150, values);
	direction_calls[direction]++;
}

/* What the program's first thread does, and what devices do for it. */
static void do_hip(uint64_t tick, uint64_t round)
{
	static const uint64_t zero, failed = (uint64_t)-2;
	uint64_t address = 0x7f0000000000 + (round % 64) * 4096;

	put_call(&api, HIP_MALLOC, tick, tick + 90, &zero);
	put_call(&api, HIP_MEMCPY, tick + 110, tick + 150, &zero);
	put_call(&api, HIP_PUSH, tick + 160, tick + 170, &zero);
	put_call(&api, HIP_LAUNCH, tick + 180, tick + 220, &zero);
	put_call(&api, HSA_SIGNAL, tick + 230, tick + 240, &zero);
	put_call(&api, HSA_POOL, tick + 250, tick + 260, &zero);
	put_call(&api, ALL_REDUCE, tick + 270, tick + 300, &zero);
	put_call(&api, HIP_FREE, tick + 900, tick + 950, &failed);
	put_call(&waiter, MEMORY, tick + 20, tick + 60,
		 (uint64_t[]){ 4096, address, 1, MEMORY_ALLOCATE, 0, 0, 1001, tick });
	put_copy(4096, 1, 0, tick + 110, tick + 160);
	put_kernel(1 + round % 2, 1, 1001, tick + 180, tick + 320);
	put_copy(512, 0, 1 + round % 2, 0, tick + 700);
	put_call(&waiter, MEMORY, tick + 910, tick + 940,
		 (uint64_t[]){ 0, address, 0, MEMORY_FREE, 0, 0, 1001, tick + 900 });
}

static void do_opencl(uint64_t tick, uint64_t round)
{
	put_call(&other, MALLOC, tick + 300, tick + 310, (uint64_t[]){ 16 + round % 8, 0x5000 });
	put_call(&other, CL_ENQUEUE, tick + 320, tick + 360, (uint64_t[]){ 0 });
	put_kernel(3, 2, 1002, tick + 320, tick + 1000);
}

static void do_rarely(uint64_t tick)
{
	put_call(&other, HSA_IMAGE, tick + 1500, tick + 1510, (uint64_t[]){ 0 });
	/* A clock that is coarser than a call is quick. */
	put_call(&other, HSA_PROGRAM, tick + 1520, tick + 1520, (uint64_t[]){ 0 });
	put_call(&other, PAUSE, tick + 1540, tick + 1550, (uint64_t[]){ 0 });
	put_call(&waiter, SCRATCH, tick + 1600, tick + 1620,
		 (uint64_t[]){ 65536, 1, 1, MEMORY_ALLOCATE, 2, 1001, 0 });
	put_call(&waiter, SCRATCH, tick + 1700, tick + 1710,
		 (uint64_t[]){ 65536, 1, 1, MEMORY_FREE, 0, 1001, 0 });
	put_copy(100, 2, 1, 0, tick + 1720);
	put_copy(100, 1, UINT64_MAX, 0, tick + 1740);
}

static void do_round(uint64_t tick, uint64_t round)
{
	static const uint64_t level;

	put_call(&api, PUSH, tick - 40, tick - 30, &level);
	put_text(&api, "step \"one\"");
	do_hip(tick, round);
	put_call(&api, POP, tick + 960, tick + 970, &level);
	put_call(&other, MARK, tick + 10, tick + 20, NULL);
	put_text(&other, "here");
	put_call(&other, START, tick + 30, tick + 40, &round);
	put_text(&other, "span");
	do_opencl(tick, round);
	put_call(&other, STOP, tick + 400, tick + 410, &round);
	if (round % 4 == 0)
		do_rarely(tick);
}

static void print_expected(uint64_t rounds)
{
	printf("{\"rounds\":%lu,\"records\":%lu,\"pid\":%d,\"functions\":{", rounds, records,
	       getpid());
	for (unsigned i = 0; i < FUNCTIONS; i++)
		printf("%s\"%s\":%lu", i ? "," : "", functions[i].name, calls[i]);
	printf("},\"kernels\":[%lu,%lu,%lu],\"copies\":{\"HOST_TO_DEVICE\":%lu,"
	       "\"DEVICE_TO_HOST\":%lu,\"DEVICE_TO_DEVICE\":%lu},\"copied_bytes\":%lu}\n",
	       kernel_calls[1], kernel_calls[2], kernel_calls[3],
	       direction_calls[COPY_HOST_TO_DEVICE], direction_calls[COPY_DEVICE_TO_HOST],
	       direction_calls[COPY_DEVICE_TO_DEVICE],
	       direction_calls[COPY_HOST_TO_DEVICE] * 4096 +
		       direction_calls[COPY_DEVICE_TO_HOST] * 512 +
		       direction_calls[COPY_DEVICE_TO_DEVICE] * 100);
}

static uint32_t begin_process(struct recording *recording, int number, struct err *err)
{
	const struct recorded_variable variables[] = { { "OMPI_COMM_WORLD_RANK", "3" },
						       { "OMPI_COMM_WORLD_SIZE", "8" },
						       { "CASE", "a/b" } };
	struct recorded_process process = { .pid = getpid() + number,
					    .start_ns = 1000000000,
					    .name = "gpu app",
					    .executable = "/bin/gpu",
					    .command = "gpu --fast \xff",
					    .parent = 4000,
					    .folder = "/tmp" };

	if (recording_process(recording, &process, err) ||
	    recording_list(recording, CHUNK_VARIABLES,
			   &(struct list_head){ process.number, 0, ARRAY_SIZE(variables) },
			   variables, err) ||
	    recording_functions(recording, &(struct list_head){ process.number, 0, FUNCTIONS },
				functions, err))
		fail(err->what);
	return process.number;
}

static void write_process(struct recording *recording, int number, uint64_t rounds, struct err *err)
{
	uint32_t process = begin_process(recording, number, err);
	uint64_t tick;

	api = other = waiter = (struct writer){ 0 };
	begin(&api, recording, process, 1001, "main");
	begin(&other, recording, process, 1002, "helper");
	begin(&waiter, recording, process, 1003, "waits");
	put_names(&waiter);
	tick = ticks_now();
	for (uint64_t round = 0; round < rounds; round++)
		do_round(tick + 100 + round * ROUND_TICKS, round);
	flush(&api);
	flush(&other);
	flush(&waiter);
	bytes_done(&api.packed);
	bytes_done(&other.packed);
	bytes_done(&waiter.packed);
}

int main(int argc, char **argv)
{
	const struct recorded_session session = { "0.1",     "node7",  "6.1",
						  "machine", "record", "hip;kernel" };
	uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	int processes = argc > 3 ? atoi(argv[3]) : 1;
	struct recorded_end end = { .reason = RECORDING_COMPLETE };
	struct recording *recording;
	struct err err = { 0 };

	if (argc < 3)
		return 2;
	many_kernels = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	if (recording_create(argv[1], &recording, &err) ||
	    recording_item(recording, CHUNK_SESSION, &session, &err) ||
	    recording_clock(recording, &err))
		fail(err.what);
	for (int i = 0; i < processes; i++)
		write_process(recording, i, rounds, &err);
	/* So that two clocks lie apart: time is a line through both. */
	usleep(20000);
	end.records = records;
	end.record_bytes = bytes;
	if (recording_close(recording, &end, &err))
		fail(err.what);
	print_expected(rounds);
	return 0;
}
