/*
 * Rings: what one thread writes another reads, whole and in order; what does not fit is counted;
 * what a hostile writer says is not believed.
 */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shared/wire/ring.h"

#define RING_SIZE 8192u
#define SLOTS     4u
#define COUNT     200000u

static struct rings *rings;
static size_t size;

static int setup(void **state)
{
	struct rings head;

	(void)state;
	size = rings_layout(SLOTS, RING_SIZE, 16, &head);
	rings = aligned_alloc(4096, size);
	if (!rings)
		return -1;
	memset(rings, 0, size);
	*rings = head;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(rings);
	return 0;
}

static struct ring_writer claim(int32_t tid)
{
	static const char name[16] = "worker";
	struct ring_writer writer;

	assert_true(ring_claim(rings, tid, name, &writer));
	return writer;
}

static bool put(struct ring_writer *writer, uint64_t number, unsigned values)
{
	struct record_call *call = ring_reserve(writer, record_call_size(values));

	if (!call)
		return false;
	*call = (struct record_call){ { (uint16_t)record_call_size(values), RECORD_CALL,
					(uint8_t)values },
				      7,
				      number,
				      number };
	for (unsigned i = 0; i < values; i++)
		((uint64_t *)(call + 1))[i] = number + i;
	ring_commit(writer, record_call_size(values));
	return true;
}

static uint32_t index_of(const struct ring *ring)
{
	return (uint32_t)(ring - rings_slot(rings, 0));
}

static long take(struct ring *ring, void *into)
{
	return ring_read(ring, rings_data(rings, index_of(ring)), RING_SIZE, into,
			 RECORD_MAX_BYTES);
}

static void a_layout_checks_itself(void **state)
{
	(void)state;
	assert_int_equal(rings_check(rings, size), 0);
	assert_int_equal(rings_check(rings, size - 1), -EPROTO);
	rings->ring_size = 3000;
	assert_int_equal(rings_check(rings, size), -EPROTO);
	rings->ring_size = RING_SIZE;
	rings->slot_count = 0;
	assert_int_equal(rings_check(rings, size), -EPROTO);
	rings->slot_count = SLOTS;
	rings->data_at += 8;
	assert_int_equal(rings_check(rings, size), -EPROTO);
}

static void every_thread_has_a_ring_of_its_own_while_there_are_some(void **state)
{
	struct ring *seen[SLOTS];
	struct ring_writer more;

	(void)state;
	for (unsigned i = 0; i < SLOTS; i++) {
		seen[i] = claim((int32_t)i + 100).ring;
		for (unsigned other = 0; other < i; other++)
			assert_ptr_not_equal(seen[i], seen[other]);
	}
	assert_false(ring_claim(rings, 1, "0123456789abcde", &more));
	ring_release(seen[2]);
	assert_ptr_equal(claim(5).ring, seen[2]);
	assert_int_equal(seen[2]->generation, 2);
	assert_int_equal(seen[2]->tid, 5);
}

static void what_is_written_is_read_in_order(void **state)
{
	struct ring_writer writer = claim(1);
	unsigned char record[RECORD_MAX_BYTES];
	const struct record_call *call = (const void *)record;

	(void)state;
	/* More than once around, with sizes that do not divide the ring. */
	for (uint64_t number = 0; number < 5000; number++) {
		unsigned values = (unsigned)(number % (RECORD_VALUES_MAX + 1));

		assert_true(put(&writer, number, values));
		assert_int_equal(take(writer.ring, record), record_call_size(values));
		assert_int_equal(call->begin, number);
		assert_int_equal(call->head.count, values);
		if (values)
			assert_int_equal(((const uint64_t *)(call + 1))[values - 1],
					 number + values - 1);
	}
	assert_int_equal(take(writer.ring, record), 0);
	assert_int_equal(writer.ring->drops[DROP_FULL], 0);
	assert_int_equal(writer.ring->records, 5000);
}

static void a_full_ring_drops_and_counts(void **state)
{
	struct ring_writer writer = claim(1);
	unsigned char record[RECORD_MAX_BYTES];
	uint64_t kept = 0, read = 0;

	(void)state;
	for (uint64_t number = 0; number < 1000; number++)
		kept += put(&writer, number, 2);
	assert_in_range(kept, 100, RING_SIZE / record_call_size(2));
	assert_int_equal(writer.ring->drops[DROP_FULL], 1000 - kept);
	while (take(writer.ring, record) > 0)
		assert_int_equal(((const struct record_call *)(const void *)record)->begin, read++);
	assert_int_equal(read, kept);
	assert_true(put(&writer, 0, 2));
}

static void *write_many(void *argument)
{
	struct ring_writer *writer = argument;

	for (uint64_t number = 0; number < COUNT;)
		number += put(writer, number, (unsigned)(number % 4));
	return NULL;
}

static void two_threads_agree(void **state)
{
	struct ring_writer writer = claim(1);
	unsigned char record[RECORD_MAX_BYTES];
	const struct record_call *call = (const void *)record;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_many, &writer), 0);
	for (uint64_t number = 0; number < COUNT;) {
		long r = take(writer.ring, record);

		assert_true(r >= 0);
		if (!r)
			continue;
		assert_int_equal(call->begin, number);
		assert_int_equal(call->head.count, number % 4);
		number++;
	}
	pthread_join(thread, NULL);
}

static void nonsense_is_skipped(void **state)
{
	struct ring_writer writer = claim(1);
	unsigned char record[RECORD_MAX_BYTES];

	(void)state;
	writer.ring->head += RING_SIZE + 8; /* more than there can be */
	assert_int_equal(take(writer.ring, record), -EPROTO);
	assert_int_equal(take(writer.ring, record), 0);
	assert_true(put(&writer, 1, 1));
	memset(writer.data, 0xff, RING_SIZE);
	assert_int_equal(take(writer.ring, record), -EPROTO);
	assert_int_equal(take(writer.ring, record), 0);
	writer.ring->head += 3;
	assert_int_equal(take(writer.ring, record), -EPROTO);
	memset(writer.data, 0, RING_SIZE); /* pads without end */
	writer.ring->head = writer.ring->tail + RING_SIZE;
	for (unsigned i = 0; i < 4; i++)
		assert_true(take(writer.ring, record) <= 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_layout_checks_itself),
		TEST(every_thread_has_a_ring_of_its_own_while_there_are_some),
		TEST(what_is_written_is_read_in_order),
		TEST(a_full_ring_drops_and_counts),
		TEST(two_threads_agree),
		TEST(nonsense_is_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
