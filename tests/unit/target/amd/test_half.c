/*
 * Halves of the SDK's buffers: who takes a place, who must not, and what is found of it.
 */
#include "unit.h"

#include "target/amd/sinks/sdk/buffers/half.h"

#include <pthread.h>
#include <stdatomic.h>

#define ROOM    4096u
#define LIFE    5u
#define THREADS 4u
#define EACH    20000u

struct found {
	uint64_t count, bytes;
	uint64_t last_kind;
};

static void find_record(void *record, void *data)
{
	const uint64_t *words = record;
	struct found *found = data;

	found->count++;
	found->bytes += words[0];
	found->last_kind = words[1];
}

static uint64_t *take(struct half *half, uint64_t size)
{
	void *place = NULL;
	uint64_t used;

	assert_int_equal(half_reserve(half, LIFE, size, ROOM, &place, &used), HALF_TAKEN);
	return place;
}

static void commit(uint64_t *record, uint64_t size, uint64_t kind)
{
	record[1] = kind;
	__atomic_store_n(record, size, __ATOMIC_RELEASE);
}

static void records_are_found_in_their_order(void **state)
{
	struct half half = { 0 };
	struct found found = { 0, 0, 0 };

	(void)state;
	assert_true(half_open(&half, LIFE, ROOM));
	commit(take(&half, 64), 64, 1);
	commit(take(&half, 112), 107, 2); /* 107 bytes have room for 112 */
	commit(take(&half, 32), 32, 3);
	assert_int_equal(half_walk(&half, half_seal(&half), find_record, &found), 0);
	assert_int_equal(found.count, 3);
	assert_int_equal(found.bytes, 64 + 107 + 32);
	assert_int_equal(found.last_kind, 3);
	half_close(&half, ROOM);
}

static void a_place_is_of_one_life_and_while_there_is_room(void **state)
{
	struct half half = { 0 };
	void *place = NULL;
	uint64_t used;

	(void)state;
	assert_true(half_open(&half, LIFE, ROOM));
	assert_int_equal(half_reserve(&half, LIFE + 1, 64, ROOM, &place, &used), HALF_SEALED);
	assert_int_equal(half_reserve(&half, LIFE, ROOM + 8, ROOM, &place, &used), HALF_FULL);
	commit(take(&half, ROOM), ROOM, 1);
	assert_int_equal(half_reserve(&half, LIFE, 32, ROOM, &place, &used), HALF_FULL);
	assert_int_equal(half_seal(&half), ROOM);
	assert_int_equal(half_reserve(&half, LIFE, 32, ROOM, &place, &used), HALF_SEALED);
	half_clean(&half, ROOM, ROOM, false);
	assert_non_null(take(&half, 32));
	half_close(&half, ROOM);
}

/* A writer who was held up between his look at the cursor and the exchange, for as long as it takes
 * to empty the half. */
static void who_was_held_up_takes_nothing(void **state)
{
	struct half half = { 0 };
	uint64_t before;

	(void)state;
	assert_true(half_open(&half, LIFE, ROOM));
	before = half.cursor;
	commit(take(&half, 64), 64, 1);
	half_clean(&half, half_seal(&half), ROOM, false);
	assert_int_equal(half.cursor & USED_MASK, 0);
	assert_int_not_equal(half.cursor, before);
	assert_int_equal(half.cursor >> LIFE_SHIFT, LIFE);
	for (unsigned i = 0; i < ROUND_MASK; i++)
		half_clean(&half, half_seal(&half), ROOM, false);
	assert_int_equal(half.cursor, before); /* the number is used up, the life is the same */
	half_close(&half, ROOM);
}

/* What its writer never finished is one lost; those behind it are found, and its memory stays his.
 */
static void one_that_is_never_whole_costs_itself(void **state)
{
	struct half half = { 0 };
	struct found found = { 0, 0, 0 };
	unsigned char *memory;
	uint64_t *left;

	(void)state;
	assert_true(half_open(&half, LIFE, ROOM));
	memory = half.memory;
	commit(take(&half, 64), 64, 1);
	left = take(&half, 96);
	commit(take(&half, 64), 64, 3);
	assert_int_equal(half_walk(&half, half_seal(&half), find_record, &found), 1);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.last_kind, 3);
	half_clean(&half, 224, ROOM, true);
	assert_ptr_not_equal(half.memory, memory);
	commit(left, 96, 2);
	assert_int_equal(*(uint64_t *)(half.memory + 64), 0);
	half_close(&half, ROOM);
	half.memory = memory;
	half_close(&half, ROOM);
}

static struct half halves[2];
static atomic_uint active, running;

static void *write_many(void *data)
{
	(void)data;
	for (uint64_t i = 0; i < EACH;) {
		uint64_t size = 32 + i % 5 * 8, used;
		void *place;

		if (half_reserve(&halves[atomic_load(&active) & 1], LIFE, size, ROOM, &place,
				 &used) == HALF_TAKEN) {
			commit(place, size, i + 1);
			i++;
		} else {
			sched_yield();
		}
	}
	atomic_fetch_sub(&running, 1);
	return NULL;
}

/* Again where a writer was held up for longer than the walk waits. */
static void find_all(const struct half *half, uint64_t used, struct found *found)
{
	struct found part;

	do
		part = (struct found){ 0, 0, 0 };
	while (half_walk(half, used, find_record, &part));
	found->count += part.count;
	found->bytes += part.bytes;
}

static void none_is_lost_between_halves(void **state)
{
	pthread_t threads[THREADS];
	struct found found = { 0, 0, 0 };
	bool is_last = false;

	(void)state;
	assert_true(half_open(&halves[0], LIFE, ROOM) && half_open(&halves[1], LIFE, ROOM));
	atomic_store(&running, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, write_many, NULL);
	for (unsigned idle = 0; idle < 2; idle += is_last) {
		struct half *full = &halves[atomic_load(&active) & 1];
		uint64_t used;

		is_last = !atomic_load(&running);
		atomic_fetch_add(&active, 1);
		used = half_seal(full);
		find_all(full, used, &found);
		half_clean(full, used, ROOM, false);
		sched_yield();
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(found.count, THREADS * EACH);
	assert_int_equal(found.bytes, THREADS * EACH * (32 + 16ull));
	half_close(&halves[0], ROOM);
	half_close(&halves[1], ROOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_found_in_their_order),
		cmocka_unit_test(a_place_is_of_one_life_and_while_there_is_room),
		cmocka_unit_test(who_was_held_up_takes_nothing),
		cmocka_unit_test(one_that_is_never_whole_costs_itself),
		cmocka_unit_test(none_is_lost_between_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
