/*
 * Which samples are left out where all of them cost too much.
 */
#include "unit.h"

#include "host/core/clock.h"
#include "host/sampling/throttle.h"

static void all_are_taken_where_there_is_room(void **state)
{
	struct throttle throttle = { 0 };

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(throttle_take(&throttle), 1);
}

/* Threads that tick in turn: each must keep its share. */
static void no_rhythm_hides_from_it(void **state)
{
	struct throttle throttle = { .every = 4, .drawn = 1 };
	unsigned stands_for[4] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 40000; i++)
		stands_for[i % 4] += throttle_take(&throttle);
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(stands_for[i], 9000, 11000);
}

static uint32_t every_after(uint64_t samples, unsigned judgements)
{
	struct throttle throttle = { 0 };

	for (unsigned i = 0; i < judgements; i++) {
		throttle.begun_ns = now_ns() - 1000000000u;
		throttle.used_ns =
			(uint64_t)0 - 500000000u; /* half a second ago it was so much less */
		throttle.taken = samples;
		throttle_adjust(&throttle);
	}
	return throttle.every;
}

static void less_are_taken_where_they_cost_too_much(void **state)
{
	(void)state;
	assert_in_range(every_after(100000, 1), 4, 8);
	assert_in_range(every_after(100000, 10), 1000, 1000);
}

/* Processes that come and go cost much, too: not because of samples. */
static void other_work_is_not_theirs(void **state)
{
	(void)state;
	assert_int_equal(every_after(0, 10), 1);
	assert_int_equal(every_after(100, 10), 1);
}

static void it_comes_back_to_all(void **state)
{
	struct throttle throttle = { .every = 64, .most = 64 };

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		throttle.begun_ns = now_ns() - 1000000000u;
		throttle_adjust(&throttle);
	}
	assert_int_equal(throttle.every, 1);
	assert_int_equal(throttle.most, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_taken_where_there_is_room),
		cmocka_unit_test(no_rhythm_hides_from_it),
		cmocka_unit_test(less_are_taken_where_they_cost_too_much),
		cmocka_unit_test(other_work_is_not_theirs),
		cmocka_unit_test(it_comes_back_to_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
