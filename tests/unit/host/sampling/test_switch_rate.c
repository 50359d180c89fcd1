/*
 * How often threads get a processor: this one sleeps so often.
 */
#include "unit.h"

#include <time.h>
#include <unistd.h>

#include "host/core/clock.h"
#include "host/sampling/bpf/switch_rate.h"

#define SLEEPS 2000u

static void sleep_often(void)
{
	for (unsigned i = 0; i < SLEEPS; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
}

static void counts_what_happened_since_the_last_look(void **state)
{
	struct switch_rate rate = { 0 };
	pid_t pid = getpid();
	uint64_t begin = now_ns(), per_second;

	(void)state;
	assert_int_equal(switch_rate_read(&rate, &pid, 1), 0);
	sleep_often();
	per_second = switch_rate_read(&rate, &pid, 1);
	assert_in_range(per_second, SLEEPS * 900000000ull / (now_ns() - begin), UINT64_MAX);
	switch_rate_done(&rate);
}

/* What came before the first look is not counted, nor what a moment would make of a few. */
static void says_nothing_too_early(void **state)
{
	struct switch_rate rate = { 0 };
	pid_t pid = getpid();

	(void)state;
	sleep_often();
	assert_int_equal(switch_rate_read(&rate, &pid, 1), 0);
	rate.looked_ns = now_ns();
	assert_int_equal(switch_rate_read(&rate, &pid, 1), 0);
	switch_rate_done(&rate);
}

static void knows_nothing_of_a_process_that_is_gone(void **state)
{
	struct switch_rate rate = { .looked_ns = 1 };
	pid_t nobody = 0x7fffffff;

	(void)state;
	assert_int_equal(switch_rate_read(&rate, &nobody, 1), 0);
	assert_int_equal(rate.count, 0);
	switch_rate_done(&rate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_what_happened_since_the_last_look),
		cmocka_unit_test(says_nothing_too_early),
		cmocka_unit_test(knows_nothing_of_a_process_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
