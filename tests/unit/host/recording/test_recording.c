/*
 * Recordings: what is written is read; what is cut, damaged or unknown costs only itself; a file
 * that cannot grow is a clear error and stays readable; a slow disk delays nobody.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/core/text/text.h"
#include "host/recording/pack.h"
#include "host/recording/reader.h"
#include "host/recording/recording.h"

static char path[64];
static struct err err;

static int setup(void **state)
{
	int fd;

	(void)state;
	memset(&err, 0, sizeof(err));
	snprintf(path, sizeof(path), "/tmp/test_recording.XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static const struct recorded_session session = { "1.2",     "host",          "6.1",
						 "aarch64", "limpet record", "alloc" };

static void put_batch(struct recording *recording, uint32_t thread, uint32_t sequence)
{
	struct bytes bytes = { 0 };
	struct packer packer = { 0 };
	struct record_call call = { { sizeof(call), RECORD_CALL, 0 }, 0, 100, 200 };
	unsigned char *into;

	assert_non_null(bytes_reserve(&bytes, RECORDS_HEAD_BYTES));
	bytes.size = RECORDS_HEAD_BYTES;
	for (unsigned i = 0; i < 100; i++) {
		call.begin += 1000;
		call.end += 1000;
		into = bytes_reserve(&bytes, PACKED_MAX);
		assert_non_null(into);
		bytes.size += (size_t)(pack(&packer, &call.head, into) - into);
	}
	assert_int_equal(recording_records(recording,
					   &(struct records_head){ thread, sequence, 100, 0 },
					   &bytes, &err),
			 0);
	bytes_done(&bytes);
}

/* Two processes, a thread each, in one file. */
static void write_small(void)
{
	static const struct trace_function function = {
		"malloc", "libc.so.6", DOMAIN_ALLOC, 1, { VALUE_SIZE }
	};
	static const struct recorded_module module = { 4096, 8192, 0, 2, { 1, 2 }, "/lib/a.so" };
	static const struct recorded_end end = { RECORDING_COMPLETE, 200, 4800, 3, { 1, 0, 2 } };
	struct recording *recording;

	assert_int_equal(recording_create(path, &recording, &err), 0);
	assert_int_equal(recording_item(recording, CHUNK_SESSION, &session, &err), 0);
	assert_int_equal(recording_clock(recording, &err), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct recorded_process process = {
			.pid = 10 + (int)i, .name = "a", .executable = "b", .command = "c"
		};
		struct recorded_thread thread = { .process = i, .tid = 20, .name = "main" };
		struct recorded_drops drops = { i, i, { 1, 2, 3 } };

		assert_int_equal(recording_process(recording, &process, &err), 0);
		assert_int_equal(process.number, i);
		assert_int_equal(recording_thread(recording, &thread, &err), 0);
		assert_int_equal(thread.number, i);
		assert_int_equal(recording_functions(recording, &(struct list_head){ i, 0, 1 },
						     &function, &err),
				 0);
		assert_int_equal(recording_list(recording, CHUNK_MODULES,
						&(struct list_head){ i, 0, 1 }, &module, &err),
				 0);
		put_batch(recording, thread.number, 0);
		assert_int_equal(recording_item(recording, CHUNK_DROPS, &drops, &err), 0);
	}
	assert_int_equal(recording_close(recording, &end, &err), 0);
}

struct content {
	unsigned chunks, kinds[16];
	struct reader_damage damage;
};

static int read_content(struct content *ret)
{
	struct recording_reader *reader;
	struct chunk chunk;
	int r = reader_open(path, &reader, &err);

	memset(ret, 0, sizeof(*ret));
	if (r)
		return r;
	for (; reader_next(reader, &chunk); ret->chunks++)
		ret->kinds[chunk.kind % 16]++;
	ret->damage = reader_damage(reader);
	reader_close(reader);
	return 0;
}

static void get_bytes(char **ret, size_t *ret_size)
{
	assert_int_equal(text_read_file(path, 1 << 20, ret, ret_size), 0);
}

static void put_bytes(const char *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void the_checksum_is_that_of_zlib(void **state)
{
	(void)state;
	assert_int_equal(checksum_of("123456789", 9), 0xcbf43926);
	assert_int_equal(checksum_of("", 0), 0);
}

static void what_is_written_is_read(void **state)
{
	static const unsigned expected[16] = {
		[CHUNK_SESSION] = 1,   [CHUNK_PROCESS] = 2, [CHUNK_THREAD] = 2,
		[CHUNK_FUNCTIONS] = 2, [CHUNK_MODULES] = 2, [CHUNK_CLOCK] = 2,
		[CHUNK_RECORDS] = 2,   [CHUNK_DROPS] = 2,   [CHUNK_END] = 1,
	};
	struct content content;

	(void)state;
	write_small();
	assert_int_equal(read_content(&content), 0);
	assert_memory_equal(content.kinds, expected, sizeof(expected));
	assert_int_equal(content.damage.chunks, 0);
	assert_int_equal(content.damage.cut_bytes, 0);
}

static void every_field_comes_back(void **state)
{
	struct recording_reader *reader;
	struct recorded_session read_session;
	struct recorded_end end;
	struct chunk chunk;

	(void)state;
	write_small();
	assert_int_equal(reader_open(path, &reader, &err), 0);
	assert_int_equal(reader_next(reader, &chunk), 1);
	assert_int_equal(item_read(&chunk.payload, CHUNK_SESSION, &read_session), 0);
	assert_string_equal(read_session.command, "limpet record");
	assert_string_equal(read_session.options, "alloc");
	while (chunk.kind != CHUNK_END)
		assert_int_equal(reader_next(reader, &chunk), 1);
	assert_int_equal(item_read(&chunk.payload, CHUNK_END, &end), 0);
	assert_int_equal(end.reason, RECORDING_COMPLETE);
	assert_int_equal(end.records, 200);
	assert_int_equal(end.drops[2], 2);
	assert_int_equal(reader_next(reader, &chunk), 0);
	assert_int_equal(reader_at(reader, chunk.at, &chunk), 0);
	assert_int_equal(reader_at(reader, chunk.at + 1, &chunk), -EPROTO);
	reader_close(reader);
}

/* At whatever byte the writer was killed. */
static void a_file_cut_anywhere_is_read_up_to_its_last_whole_chunk(void **state)
{
	struct content content, whole;
	char *bytes;
	size_t size;
	unsigned last = 0;

	(void)state;
	write_small();
	assert_int_equal(read_content(&whole), 0);
	get_bytes(&bytes, &size);
	for (size_t cut = 0; cut < size; cut++) {
		put_bytes(bytes, cut);
		if (cut < sizeof(struct recording_head)) {
			assert_int_equal(read_content(&content), -EPROTO);
			continue;
		}
		assert_int_equal(read_content(&content), 0);
		assert_true(content.chunks >= last && content.chunks <= last + 1);
		assert_int_equal(content.damage.chunks, 0);
		last = content.chunks;
	}
	assert_int_equal(last, whole.chunks - 1);
	free(bytes);
}

/* Whichever byte is wrong: one chunk is lost when it is in a payload, the rest when in a head. */
static void one_wrong_byte_is_found(void **state)
{
	struct content content, whole;
	char *bytes;
	size_t size;

	(void)state;
	write_small();
	assert_int_equal(read_content(&whole), 0);
	get_bytes(&bytes, &size);
	for (size_t at = 0; at < size; at++) {
		bytes[at] ^= 0x10;
		put_bytes(bytes, size);
		bytes[at] ^= 0x10;
		if (read_content(&content)) {
			assert_true(at < sizeof(struct recording_head));
			continue;
		}
		if (at >= 12 && at < sizeof(struct recording_head))
			continue; /* reserved */
		assert_true(content.chunks < whole.chunks);
		assert_true(content.damage.chunks == 1 || content.damage.cut_bytes > 0);
		if (content.damage.chunks)
			assert_int_equal(content.chunks, whole.chunks - 1);
	}
	free(bytes);
}

static void append_chunk(uint16_t kind, uint16_t version, const char *payload)
{
	struct chunk_head head = { CHUNK_MAGIC, kind, version, (uint32_t)strlen(payload), 0, 0, 0 };
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	head.checksum = checksum_of(payload, head.length);
	head.head_checksum = checksum_of(&head, offsetof(struct chunk_head, head_checksum));
	fwrite(&head, sizeof(head), 1, file);
	fwrite(payload, 1, head.length, file);
	assert_int_equal(fclose(file), 0);
}

static void an_unknown_kind_is_handed_over_whole(void **state)
{
	struct content content;

	(void)state;
	write_small();
	append_chunk(12, 7, "from the future");
	append_chunk(13, 1, "");
	append_chunk(CHUNK_CLOCK, 1, "too short");
	assert_int_equal(read_content(&content), 0);
	assert_int_equal(content.kinds[12], 1);
	assert_int_equal(content.kinds[13], 1);
	assert_int_equal(content.damage.chunks, 0);
	assert_int_equal(content.damage.cut_bytes, 0);
}

static void other_files_are_refused_by_name(void **state)
{
	struct content content;
	char head[16] = RECORDING_MAGIC;

	(void)state;
	put_bytes("#!/bin/sh\necho this is no recording\n", 36);
	assert_int_equal(read_content(&content), -EPROTO);
	assert_non_null(strstr(err.what, "is not a recording"));
	head[8] = 99;
	put_bytes(head, sizeof(head));
	assert_int_equal(read_content(&content), -EPROTO);
	assert_non_null(strstr(err.what, "version 99"));
	unlink(path);
	assert_int_equal(read_content(&content), -ENOENT);
	put_bytes("", 0);
}

/* Whoever has asked first has the name, before he has written anything. */
static void a_name_is_given_once(void **state)
{
	char folder[] = "/tmp/test_recording.XXXXXX", first[64], second[64], third[64];
	int one, two, before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(symlink("nowhere", "limpet-7-2.limpet"), 0);
	one = recording_unused_path(7, first, sizeof(first), &err);
	two = recording_unused_path(7, second, sizeof(second), &err);
	assert_true(one >= 0 && two >= 0);
	assert_int_equal(close(one) | close(two), 0);
	assert_string_equal(first, "limpet-7.limpet");
	assert_string_equal(second, "limpet-7-3.limpet");
	assert_int_equal(unlink(first) | unlink(second) | unlink("limpet-7-2.limpet"), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(recording_unused_path(7, third, sizeof(third), &err), -ENOENT);
	assert_int_equal(fchdir(before), 0);
	close(before);
}

static void a_full_device_is_a_clear_error(void **state)
{
	struct recording *recording;

	(void)state;
	assert_int_equal(recording_create("/dev/full", &recording, &err), -ENOSPC);
	assert_non_null(strstr(err.what, "/dev/full"));
	assert_non_null(strstr(err.what, strerror(ENOSPC)));
	assert_int_equal(recording_create("/no/such/folder/a", &recording, &err), -ENOENT);
}

/* The file may not grow beyond so many bytes, as on a full disk. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void fill_up(struct recording *recording)
{
	const struct recorded_process process = { 0, 1, 2, "name", "executable", "command" };

	for (unsigned i = 0; i < 100000; i++) {
		struct recorded_process copy = process;

		if (recording_process(recording, &copy, &err))
			return;
		usleep(100); /* it is written meanwhile */
	}
	fail_msg("the file grew without end");
}

static void a_file_that_cannot_grow_stays_readable(void **state)
{
	static const struct recorded_end end = { .reason = RECORDING_COMPLETE };
	struct recording *recording;
	struct content content;
	struct stat stat_of_it;
	uint64_t size;

	(void)state;
	assert_int_equal(recording_create(path, &recording, &err), 0);
	limit_files(1500);
	fill_up(recording);
	assert_int_equal(err.code, -EFBIG);
	assert_non_null(strstr(err.why, "readable"));
	size = recording_size(recording);
	assert_int_equal(recording_item(recording, CHUNK_SESSION, &session, &err), -EFBIG);
	assert_int_equal(recording_close(recording, &end, &err), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(stat(path, &stat_of_it), 0);
	assert_int_equal(stat_of_it.st_size, size);
	assert_int_equal(read_content(&content), 0);
	assert_in_range(content.kinds[CHUNK_PROCESS], 10, 40);
	assert_int_equal(content.damage.cut_bytes, 0);
}

static void a_pipe_will_do(void **state)
{
	struct recording *recording;
	char name[32], head[8];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	assert_int_equal(recording_create(name, &recording, &err), 0);
	assert_int_equal(recording_item(recording, CHUNK_SESSION, &session, &err), 0);
	assert_int_equal(read(ends[0], head, sizeof(head)), sizeof(head));
	assert_memory_equal(head, RECORDING_MAGIC, sizeof(head));
	recording_abandon(recording);
	close(ends[0]);
	close(ends[1]);
}

static void *copy_to_file(void *argument)
{
	int from = *(const int *)argument, into = open(path, O_WRONLY);
	char buffer[4096];
	ssize_t size;

	while ((size = read(from, buffer, sizeof(buffer))) > 0)
		if (write(into, buffer, (size_t)size) != size)
			break;
	close(into);
	return NULL;
}

/* A pipe takes 64 KiB while nobody reads; a batch is about 60 bytes. */
#define BATCHES 10000u

static void who_records_does_not_wait_for_the_disk(void **state)
{
	static const struct recorded_end end = { .reason = RECORDING_COMPLETE };
	struct recording *recording;
	struct content content;
	char name[32];
	pthread_t reader;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	assert_int_equal(recording_create(name, &recording, &err), 0);
	close(ends[1]);
	for (uint32_t i = 0; i < BATCHES; i++)
		put_batch(recording, 0, i);
	assert_true(recording_size(recording) > 2 * 65536);
	assert_int_equal(pthread_create(&reader, NULL, copy_to_file, &ends[0]), 0);
	assert_int_equal(recording_close(recording, &end, &err), 0);
	pthread_join(reader, NULL);
	close(ends[0]);
	assert_int_equal(read_content(&content), 0);
	assert_int_equal(content.kinds[CHUNK_RECORDS], BATCHES);
}

static void clocks_go_forward_together(void **state)
{
	struct clock_point a, b;

	(void)state;
	clock_now(&a);
	usleep(20000);
	clock_now(&b);
	assert_true(b.ticks > a.ticks);
	assert_in_range(b.boot_ns - a.boot_ns, 20000000, PATIENCE_MS * 1000000ull);
	assert_in_range(b.raw_ns - a.raw_ns, 19000000, PATIENCE_MS * 1000000ull);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_checksum_is_that_of_zlib),
		TEST(what_is_written_is_read),
		TEST(every_field_comes_back),
		TEST(a_file_cut_anywhere_is_read_up_to_its_last_whole_chunk),
		TEST(one_wrong_byte_is_found),
		TEST(an_unknown_kind_is_handed_over_whole),
		TEST(other_files_are_refused_by_name),
		TEST(a_name_is_given_once),
		TEST(a_full_device_is_a_clear_error),
		TEST(a_file_that_cannot_grow_stays_readable),
		TEST(a_pipe_will_do),
		TEST(who_records_does_not_wait_for_the_disk),
		TEST(clocks_go_forward_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
