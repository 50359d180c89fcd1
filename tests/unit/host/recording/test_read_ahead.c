/*
 * Reading ahead hands out what reading does: the same chunks in the same order, also of a file that
 * is damaged; and can be stopped at any time.
 */
#include "unit.h"

#include "host/recording/pack_samples.h"
#include "host/recording/read_ahead.h"
#include "host/recording/recording.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNKS    40u
#define ITEMS     8000u
#define DAMAGE_AT 1000000

static char path[] = "/tmp/read-ahead-XXXXXX";

static void write_samples(struct recording *file, uint64_t *seed)
{
	static const char head[NUMBERED_HEAD_BYTES];
	struct sample_packer packer = { 0 };
	struct bytes bytes = { 0 };
	struct err err = { 0 };

	bytes_put(&bytes, head, sizeof(head));
	for (uint32_t i = 0; i < ITEMS; i++) {
		*seed = *seed * UINT64_C(6364136223846793005) + 1;
		sample_pack(&bytes, &packer,
			    &(struct recorded_sample){ .thread = (uint32_t)(*seed >> 60),
						       .stack = (uint32_t)(*seed >> 32),
						       .time_ns = *seed,
						       .weight_ns = *seed >> 20 });
	}
	numbered_set(&bytes, &(struct numbered_head){ 0, ITEMS });
	assert_int_equal(recording_samples(file, CHUNK_SAMPLES, &bytes, &err), 0);
	bytes_done(&bytes);
}

/* One byte in the middle is another one. */
static void damage(void)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned char byte;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, DAMAGE_AT), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, DAMAGE_AT), 1);
	close(fd);
}

static int file_make(void **state)
{
	struct recording *file;
	struct err err = { 0 };
	uint64_t seed = 1;

	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(recording_create(path, &file, &err), 0);
	for (unsigned i = 0; i < CHUNKS; i++)
		write_samples(file, &seed);
	assert_int_equal(
		recording_close(file, &(struct recorded_end){ .reason = RECORDING_COMPLETE }, &err),
		0);
	damage();
	return 0;
}

static int file_remove(void **state)
{
	(void)state;
	return unlink(path);
}

static void same_chunk(const struct chunk *plain, const struct chunk *ahead)
{
	struct decoded_samples decoded = { 0 };
	size_t size = (size_t)(plain->payload.end - plain->payload.at);

	assert_true(plain->kind == ahead->kind && plain->at == ahead->at);
	assert_int_equal(size, ahead->payload.end - ahead->payload.at);
	assert_memory_equal(plain->payload.at, ahead->payload.at, size);
	assert_int_equal(ahead->kind == CHUNK_SAMPLES, ahead->samples != NULL);
	if (!ahead->samples)
		return;
	assert_int_equal(samples_decode(plain->payload, &decoded), ahead->samples->result);
	assert_int_equal(decoded.count, ahead->samples->count);
	assert_memory_equal(decoded.items, ahead->samples->items,
			    decoded.count * sizeof(*decoded.items));
	decoded_samples_done(&decoded);
}

static void hands_out_the_same(void **state)
{
	struct recording_reader *readers[2];
	struct read_ahead *ahead;
	struct chunk plain, other;
	struct err err = { 0 };
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(reader_open(path, &readers[i], &err), 0);
	assert_true(reader_size(readers[0]) >= READ_AHEAD_LEAST);
	ahead = read_ahead_start(readers[1]);
	assert_non_null(ahead);
	for (; reader_next(readers[0], &plain); count++) {
		assert_int_equal(read_ahead_next(ahead, &other), 1);
		same_chunk(&plain, &other);
	}
	assert_int_equal(read_ahead_next(ahead, &other), 0);
	read_ahead_stop(ahead);
	assert_true(count >= CHUNKS - 1);
	assert_int_equal(reader_damage(readers[0]).chunks, 1);
	assert_int_equal(reader_damage(readers[1]).chunks, 1);
	for (unsigned i = 0; i < 2; i++)
		reader_close(readers[i]);
}

static void stops_at_any_time(void **state)
{
	(void)state;
	for (unsigned taken = 0; taken < 12; taken++) {
		struct recording_reader *reader;
		struct read_ahead *ahead;
		struct err err = { 0 };
		struct chunk chunk;

		assert_int_equal(reader_open(path, &reader, &err), 0);
		ahead = read_ahead_start(reader);
		assert_non_null(ahead);
		for (unsigned i = 0; i < taken; i++)
			assert_int_equal(read_ahead_next(ahead, &chunk), 1);
		read_ahead_stop(ahead);
		reader_close(reader);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_out_the_same),
		cmocka_unit_test(stops_at_any_time),
	};

	return cmocka_run_group_tests(tests, file_make, file_remove);
}
