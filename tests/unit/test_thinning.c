/*
 * The collector's share of the processor: how many samples are left out, and that those that are
 * taken stand for all.
 */
#include "unit.h"

#include "host/core/clock.h"
#include "host/sampling/thinning.h"

#define SECOND_NS 1000000000u

/* As if the thread had used so much of the second before now. */
static void pretend(struct thinning *thinning, uint64_t used_ns)
{
	struct timespec own;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	thinning->begun_ns = now_ns() - SECOND_NS;
	thinning->used_ns = (uint64_t)own.tv_sec * SECOND_NS + (uint64_t)own.tv_nsec - used_ns;
}

static void all_are_taken_at_first(void **state)
{
	struct thinning thinning = { 0 };

	(void)state;
	assert_false(thinning_judge(&thinning));
	for (int i = 0; i < 10; i++)
		assert_int_equal(thinning_takes(&thinning), 1);
}

/* Threads that tick in turn: each must keep its share. */
static void taken_ones_stand_for_all(void **state)
{
	struct thinning thinning = { .every = 4, .drawn = 1 };
	unsigned stands_for[4] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 40000; i++)
		stands_for[i % 4] += thinning_takes(&thinning);
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(stands_for[i], 9000, 11000);
}

static void who_uses_more_takes_less(void **state)
{
	struct thinning thinning = { 0 };
	uint32_t every;

	(void)state;
	pretend(&thinning, SECOND_NS / 2);
	assert_true(thinning_judge(&thinning));
	assert_in_range(thinning.every, 2, 6);
	every = thinning.every;
	pretend(&thinning, SECOND_NS);
	assert_true(thinning_judge(&thinning));
	assert_true(thinning.every > every);
	assert_int_equal(thinning.most, thinning.every);
}

static void it_comes_back_to_all(void **state)
{
	struct thinning thinning = { .every = 64, .most = 64 };

	(void)state;
	for (int i = 0; i < 8; i++) {
		pretend(&thinning, 0);
		thinning_judge(&thinning);
	}
	assert_int_equal(thinning.every, 1);
	assert_int_equal(thinning.most, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_taken_at_first),
		cmocka_unit_test(taken_ones_stand_for_all),
		cmocka_unit_test(who_uses_more_takes_less),
		cmocka_unit_test(it_comes_back_to_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
