/*
 * Writes a recording through the real rings, collector and writer, from several threads, and says
 * what must be in it: one JSON object on stdout.
 *
 *   usage: make_recording FILE THREADS ROUNDS [calm|drops|cut|kill|limit|empty]
 *
 *   calm   nothing is dropped (threads wait for room)
 *   drops  threads do not wait
 *   cut    as calm, and the file gets no end
 *   kill   as calm, and the process kills itself while it records
 *   limit  as calm, and files may not grow beyond FILE_LIMIT bytes
 *   empty  no thread writes anything
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/collect/collect.h"
#include "host/core/clock.h"
#include "shared/arch/ticks.h"

#define WRITER_BEHIND_US \
	200000 /* on a busy machine the thread that writes the file needs so long */
#define SLOTS       16u
#define RING_SIZE   (1u << 20)
#define THREADS_MAX 64u
#define KEPT_BYTES  48u
#define READ_BYTES  512u
#define SITE        0x400100u
#define FILE_LIMIT  60000u

enum { MALLOC, FREE, READ, OPEN, LOCK, OUTER, INNER, MARK, PUSH, POP, START, STOP, FUNCTIONS };
enum { PHASE, STEP, SPAN, FOREVER, BEFORE, RANGES };

static const struct trace_function functions[FUNCTIONS] = {
	[MALLOC] = { "malloc", "libc.so.6", DOMAIN_ALLOC, 2, { VALUE_SIZE, VALUE_ADDRESS } },
	[FREE] = { "free", "libc.so.6", DOMAIN_ALLOC, 1, { VALUE_OLD_ADDRESS } },
	[READ] = { "read",
		   "libc.so.6",
		   DOMAIN_IO,
		   3,
		   { VALUE_DESCRIPTOR, VALUE_SIZE, VALUE_RESULT } },
	[OPEN] = { "open", "libc.so.6", DOMAIN_IO, 1, { VALUE_RESULT } },
	[LOCK] = { "pthread_mutex_lock",
		   "libc.so.6",
		   DOMAIN_LOCK,
		   2,
		   { VALUE_OBJECT, VALUE_OWNER } },
	[OUTER] = { "outer", "libwork \"1\", é.so", DOMAIN_FUNCTION, 1, { VALUE_RESULT } },
	[INNER] = { "inner", "", DOMAIN_FUNCTION, 0, { 0 } },
	[MARK] = { "roctxMarkA", "libroctx64.so.4", DOMAIN_MARKER, 1, { VALUE_ID } },
	[PUSH] = { "roctxRangePushA", "libroctx64.so.4", DOMAIN_MARKER, 1, { VALUE_RESULT } },
	[POP] = { "roctxRangePop", "libroctx64.so.4", DOMAIN_MARKER, 1, { VALUE_RESULT } },
	[START] = { "roctxRangeStartA", "libroctx64.so.4", DOMAIN_MARKER, 1, { VALUE_ID } },
	[STOP] = { "roctxRangeStop", "libroctx64.so.4", DOMAIN_MARKER, 1, { VALUE_ID } },
};

static const char *const range_names[RANGES] = {
	[PHASE] = "phase", [STEP] = "step", [SPAN] = "span", [FOREVER] = "never \"done\"",
	[BEFORE] = "",
};

/* What one thread wrote. */
struct worker {
	pthread_t thread;
	struct rings *rings;
	uint64_t rounds;
	bool waits;
	struct ring_writer writer;
	uint64_t calls[FUNCTIONS], ticks[FUNCTIONS];
	uint64_t ranges[RANGES], range_ticks[RANGES];
	uint64_t last_end; /* of a call */
	uint64_t kept, tried;
	unsigned number;
};

/* Nobody waits any more once it was for nothing: the collector has ended. */
static _Atomic bool is_over;

static void wait_for_room(const struct ring_writer *writer)
{
	uint64_t begin_ns = 0;

	while (!is_over &&
	       writer->ring->head - __atomic_load_n(&writer->ring->tail, __ATOMIC_ACQUIRE) >
		       RING_SIZE / 2) {
		if (!begin_ns)
			begin_ns = now_ns();
		is_over = now_ns() - begin_ns > 2000000000u;
		sched_yield();
	}
}

static void *reserve(struct worker *worker, size_t size)
{
	if (worker->waits)
		wait_for_room(&worker->writer);
	worker->tried++;
	return ring_reserve(&worker->writer, size);
}

static bool put_call(struct worker *worker, unsigned function, uint64_t begin,
		     const uint64_t *values)
{
	unsigned count = functions[function].value_count;
	size_t size = record_call_size(count);
	struct record_call *call = reserve(worker, size);
	uint64_t end = ticks_now();

	if (!call)
		return false;
	*call = (struct record_call){
		{ (uint16_t)size, RECORD_CALL, (uint8_t)count }, function, begin, end
	};
	if (count)
		memcpy(call + 1, values, count * sizeof(*values));
	ring_commit(&worker->writer, size);
	worker->last_end = end;
	worker->calls[function]++;
	worker->ticks[function] += end - begin;
	return true;
}

static void put_stack(struct worker *worker, uint64_t frame)
{
	const uint64_t frames[] = { SITE + frame, 0x400200, 0x7000 };
	size_t size = sizeof(struct record_stack) + sizeof(frames);
	struct record_stack *stack = reserve(worker, size);

	if (!stack)
		return;
	*stack = (struct record_stack){ { (uint16_t)size, RECORD_STACK, ARRAY_SIZE(frames) }, 0 };
	memcpy(stack + 1, frames, sizeof(frames));
	ring_commit(&worker->writer, size);
}

static void put_text(struct worker *worker, const char *text)
{
	size_t length = strlen(text), size = ALIGN_UP(sizeof(struct record_text) + length, 8);
	struct record_text *record = reserve(worker, size);

	if (!record)
		return;
	*record = (struct record_text){ { (uint16_t)size, RECORD_TEXT, 0 }, (uint32_t)length };
	memcpy(record + 1, text, length);
	ring_commit(&worker->writer, size);
}

static void allocate(struct worker *worker, uint64_t round)
{
	uint64_t begin = ticks_now();
	uint64_t address = 0xffff00000000u + worker->number * 0x10000000u + round % 64 * 48 + 16;
	bool is_kept = round % 64 == 63;
	uint64_t size = is_kept ? KEPT_BYTES : 16 + round % 32;

	/* Of each 64 rounds, the last one's memory is never given back: its address is its own. */
	if (is_kept)
		address += (round / 64 + 1) * 0x1000;
	if (!put_call(worker, MALLOC, begin, (uint64_t[]){ size, address }))
		return;
	put_stack(worker, is_kept ? 8 : 0);
	if (is_kept)
		worker->kept++;
	else
		put_call(worker, FREE, ticks_now(), &address);
}

static void do_round(struct worker *worker, uint64_t round)
{
	uint64_t outer = ticks_now();

	allocate(worker, round);
	put_call(worker, INNER, ticks_now(), NULL);
	put_call(worker, OUTER, outer, (uint64_t[]){ (uint64_t)-1 });
	if (round % 8 == 0)
		put_call(worker, READ, ticks_now(),
			 (uint64_t[]){ 7 + worker->number, 4096, READ_BYTES });
	if (round % 16 == 0)
		put_call(worker, LOCK, ticks_now(), (uint64_t[]){ 0xabc000, 4711 });
}

/* Begins a range: the tick. */
static uint64_t begin_range(struct worker *worker, unsigned function, unsigned range,
			    uint64_t value)
{
	uint64_t begin = ticks_now();

	put_call(worker, function, begin, &value);
	put_text(worker, range_names[range]);
	worker->ranges[range]++;
	return begin;
}

static void end_range(struct worker *worker, unsigned function, unsigned range, uint64_t value,
		      uint64_t begin)
{
	put_call(worker, function, ticks_now(), &value);
	worker->range_ticks[range] += worker->last_end - begin;
}

/* One range is ended that began before, one is never ended. */
static void do_rounds(struct worker *worker)
{
	uint64_t id = 1000 + worker->number;
	uint64_t span = begin_range(worker, START, SPAN, id), phase, step;

	put_call(worker, POP, ticks_now(), (uint64_t[]){ 1 });
	phase = begin_range(worker, PUSH, PHASE, 1);
	for (uint64_t round = 0; round < worker->rounds; round++) {
		step = round % 32 ? 0 : begin_range(worker, PUSH, STEP, 2);
		do_round(worker, round);
		if (step)
			end_range(worker, POP, STEP, 2, step);
	}
	end_range(worker, POP, PHASE, 1, phase);
	begin_range(worker, PUSH, FOREVER, 1);
	end_range(worker, STOP, SPAN, id, span);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	char name[16] = "";

	snprintf(name, sizeof(name), "worker %u", worker->number);
	while (!ring_claim(worker->rings, (int32_t)syscall(SYS_gettid), name, &worker->writer))
		usleep(1000);
	put_call(worker, OPEN, ticks_now(), (uint64_t[]){ 7 + worker->number });
	put_text(worker, "/tmp/some \"file\",\n\xc3\xa4\xff");
	put_call(worker, MARK, ticks_now(), (uint64_t[]){ worker->number });
	put_text(worker, "step one");
	do_rounds(worker);
	return NULL;
}

static bool is_alive(void *context, int32_t tid)
{
	(void)context;
	return syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

static struct rings *make_rings(size_t *ret_size)
{
	struct rings head;
	size_t size = rings_layout(SLOTS, RING_SIZE, 64, &head);
	int fd = memfd_create("rings", MFD_CLOEXEC);
	struct rings *rings = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, (off_t)size))
		rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (rings == MAP_FAILED)
		return NULL;
	*rings = head;
	memcpy(rings_functions(rings), functions, sizeof(functions));
	rings->function_count = FUNCTIONS;
	*ret_size = size;
	return rings;
}

static int begin_recording(const char *path, struct recording **ret, uint32_t *ret_process,
			   struct err *err)
{
	const struct recorded_session session = { "0.1",     "host",           "6.1",
						  "machine", "make_recording", "alloc;io" };
	struct recorded_process process = { .pid = getpid(),
					    .start_ns = 1,
					    .name = "make",
					    .executable = "/bin/make",
					    .command = "make it" };
	const struct recorded_module modules[] = {
		{ 0x500000, 0x1000, 0, 0, { 0 }, "/usr/lib/other.so" },
		{ 0x400000, 0x10000, 0x1000, 3, { 0xab, 0xcd, 0xef }, "/usr/lib/libwork.so" },
	};
	int r = recording_create(path, ret, err);

	if (r || (r = recording_item(*ret, CHUNK_SESSION, &session, err)) ||
	    (r = recording_clock(*ret, err)) || (r = recording_process(*ret, &process, err)))
		return r;
	*ret_process = process.number;
	return recording_list(*ret, CHUNK_MODULES,
			      &(struct list_head){ process.number, 0, ARRAY_SIZE(modules) },
			      modules, err);
}

static uint64_t run_workers(struct worker *workers, unsigned count)
{
	uint64_t begin_ns = now_ns();

	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			abort();
	for (unsigned i = 0; i < count; i++)
		pthread_join(workers[i].thread, NULL);
	return now_ns() - begin_ns;
}

static void print_expected(const struct worker *workers, unsigned count,
			   const struct collect_totals *totals, uint64_t size, uint64_t took_ns)
{
	uint64_t kept = 0, tried = 0;

	printf("{\"functions\":{");
	for (unsigned function = 0; function < FUNCTIONS; function++) {
		uint64_t calls = 0, ticks = 0;

		for (unsigned i = 0; i < count; i++) {
			calls += workers[i].calls[function];
			ticks += workers[i].ticks[function];
		}
		printf("%s\"%s\":{\"calls\":%lu,\"ticks\":%lu}", function ? "," : "",
		       functions[function].name, calls, ticks);
	}
	printf("},\"ranges\":{");
	for (unsigned range = 0; range < BEFORE; range++) {
		uint64_t calls = 0, ticks = 0;

		for (unsigned i = 0; i < count; i++) {
			calls += workers[i].ranges[range];
			ticks += workers[i].range_ticks[range];
		}
		printf("%s\"%s\":{\"calls\":%lu,\"ticks\":%lu}", range ? "," : "",
		       range == FOREVER ? "never \\\"done\\\"" : range_names[range], calls, ticks);
	}
	for (unsigned i = 0; i < count; i++) {
		kept += workers[i].kept;
		tried += workers[i].tried;
	}
	printf("},\"kept\":%lu,\"kept_bytes\":%lu,\"tried\":%lu,\"records\":%lu,\"bytes\":%lu,"
	       "\"invalid\":%lu,\"dropped\":%lu,\"threads\":%lu,\"file_bytes\":%lu,\"took_ns\":%lu,"
	       "\"read_bytes\":%u,\"pid\":%d}\n",
	       kept, kept * KEPT_BYTES, tried, totals->records, totals->record_bytes,
	       totals->invalid, totals->drops[DROP_FULL], totals->threads, size, took_ns,
	       READ_BYTES, getpid());
	fflush(stdout);
}

static int end_recording(struct recording *recording, const struct collect_totals *totals,
			 struct err *err)
{
	struct recorded_end end = { .reason = RECORDING_COMPLETE,
				    .records = totals->records,
				    .record_bytes = totals->record_bytes,
				    .invalid = totals->invalid };

	memcpy(end.drops, totals->drops, sizeof(end.drops));
	return recording_close(recording, &end, err);
}

static int record(struct worker *workers, unsigned count, struct recording *recording,
		  const struct collect_source *source, const char *mode, struct err *err)
{
	struct collect_totals totals;
	struct collector *collector = NULL;
	uint64_t took_ns;
	int r = collector_new(recording, source, &collector, err);

	if (r || (r = collector_start(collector, err)))
		return r;
	took_ns = strcmp(mode, "empty") ? run_workers(workers, count) : 0;
	collector_stop(collector);
	r = collector_check(collector, err);
	if (!r)
		r = collector_finish(collector, err);
	collector_totals(collector, &totals);
	collector_free(collector);
	if (r)
		return r;
	print_expected(workers, count, &totals, recording_size(recording), took_ns);
	if (strcmp(mode, "kill") == 0) {
		usleep(WRITER_BEHIND_US);
		raise(SIGKILL);
	}
	if (strcmp(mode, "cut"))
		return end_recording(recording, &totals, err);
	recording_abandon(recording);
	return 0;
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS_MAX];
	const char *mode = argc > 4 ? argv[4] : "calm";
	unsigned count = argc > 3 ? (unsigned)MIN(strtoul(argv[2], NULL, 10), THREADS_MAX) : 0;
	struct collect_source source = { .is_alive = is_alive };
	struct recording *recording = NULL;
	struct err err = { 0 };

	if (argc < 4)
		return 2;
	signal(SIGXFSZ, SIG_IGN);
	source.rings = make_rings(&source.size);
	if (!source.rings)
		return 1;
	/* After the rings, which are a file too. */
	if (strcmp(mode, "limit") == 0)
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ FILE_LIMIT, FILE_LIMIT });
	for (unsigned i = 0; i < count; i++)
		workers[i] = (struct worker){ .rings = source.rings,
					      .rounds = strtoull(argv[3], NULL, 10),
					      .waits = strcmp(mode, "drops") != 0,
					      .number = i };
	if (begin_recording(argv[1], &recording, &source.process, &err) ||
	    record(workers, count, recording, &source, mode, &err)) {
		fprintf(stderr, "%s\n%s\n%s\n", err.what, err.why, err.fix);
		return 1;
	}
	return 0;
}
