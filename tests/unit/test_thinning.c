/*
 * Which samples are left out where all of them cost too much.
 */
#include "unit.h"

#include "host/sampling/thinning.h"

static void all_are_taken_where_there_is_room(void **state)
{
	struct thinning thinning = { 0 };

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(thinning_takes(&thinning), 1);
}

/* Threads that tick in turn: each must keep its share. */
static void no_rhythm_hides_from_it(void **state)
{
	struct thinning thinning = { .every = 4, .drawn = 1 };
	unsigned stands_for[4] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 40000; i++)
		stands_for[i % 4] += thinning_takes(&thinning);
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(stands_for[i], 9000, 11000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_taken_where_there_is_room),
		cmocka_unit_test(no_rhythm_hides_from_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
