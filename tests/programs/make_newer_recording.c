/*
 * Writes a recording as a limpet of the future might: calls of a domain that nobody knows today,
 * kinds of records likewise, between calls that everybody knows.  Says how many calls there are of
 * each: one JSON object on stdout.
 *
 *   usage: make_newer_recording FILE [NUMBER OF THE DOMAIN]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/recording/pack.h"
#include "host/recording/recording.h"
#include "shared/arch/ticks.h"

#define CALLS         12u
#define NEWER_DOMAIN  200u
#define NEWER_KIND    77u
#define NEWEST_DOMAIN 255u

enum { MALLOC, NEWER, NEWEST, FUNCTIONS };

static struct trace_function functions[FUNCTIONS] = {
	[MALLOC] = { "malloc", "libc.so.6", DOMAIN_ALLOC, 2, { VALUE_SIZE, VALUE_ADDRESS } },
	[NEWER] = { "futureCall", "libfuture.so", NEWER_DOMAIN, 1, { 99 } },
	[NEWEST] = { "lastCall", "libfuture.so", NEWEST_DOMAIN, 0, { 0 } },
};

static struct packer packer;
static struct bytes packed;
static struct records_head head;

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static unsigned char *make_room(void)
{
	unsigned char *at = bytes_reserve(&packed, PACKED_MAX);

	if (!at)
		fail("no memory");
	return at;
}

static void put_call(unsigned function, uint64_t begin)
{
	unsigned count = functions[function].value_count;
	struct {
		struct record_call call;
		uint64_t values[2];
	} record = { { { (uint16_t)record_call_size(count), RECORD_CALL, (uint8_t)count },
		       function,
		       begin,
		       begin + 40 },
		     { 64, 0x5000 } };
	unsigned char *at = make_room();

	packed.size += (size_t)(pack(&packer, &record.call.head, at) - at);
	head.count++;
}

/* As docs/recording-format.md has it: kind, count, length, bytes. */
static void put_newer(void)
{
	static const unsigned char record[] = { NEWER_KIND, 3, 6, 'f', 'u', 't', 'u', 'r', 'e' };

	memcpy(make_room(), record, sizeof(record));
	packed.size += sizeof(record);
	head.count++;
}

static void put_all(void)
{
	uint64_t tick = ticks_now();

	make_room();
	packed.size = RECORDS_HEAD_BYTES;
	for (unsigned i = 0; i < CALLS; i++) {
		put_call(i % FUNCTIONS, tick + i * 100);
		put_newer();
	}
}

static void begin_process(struct recording *recording, struct err *err)
{
	struct recorded_process process = { .pid = getpid(),
					    .name = "future",
					    .executable = "/bin/future",
					    .command = "future",
					    .folder = "/tmp" };
	struct recorded_thread thread = { .tid = getpid(), .name = "future" };

	if (recording_process(recording, &process, err) ||
	    recording_functions(recording, &(struct list_head){ process.number, 0, FUNCTIONS },
				functions, err) ||
	    recording_thread(recording, &thread, err))
		fail(err->what);
	head.thread = thread.number;
}

int main(int argc, char **argv)
{
	const struct recorded_session session = { "9.0", "node7", "9.1", "machine", "record", "" };
	struct recorded_end end = { .reason = RECORDING_COMPLETE };
	struct recording *recording;
	struct err err = { 0 };

	if (argc < 2)
		return 2;
	if (argc > 2)
		functions[NEWER].domain = (uint8_t)atoi(argv[2]);
	if (recording_create(argv[1], &recording, &err) ||
	    recording_item(recording, CHUNK_SESSION, &session, &err) ||
	    recording_clock(recording, &err))
		fail(err.what);
	begin_process(recording, &err);
	put_all();
	if (recording_records(recording, &head, &packed, &err))
		fail(err.what);
	usleep(20000);
	end.records = head.count;
	if (recording_close(recording, &end, &err))
		fail(err.what);
	printf("{\"each\":%u,\"newer_records\":%u,\"domains\":[\"other %u\",\"other %u\"]}\n",
	       CALLS / FUNCTIONS, CALLS, functions[NEWER].domain, NEWEST_DOMAIN);
	return 0;
}
