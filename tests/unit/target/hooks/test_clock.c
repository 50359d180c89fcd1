/*
 * The machine's counter beside the kernel's clock: what was read together belongs together, and is
 * kept for a time, however fast the counter goes.
 */
#include "unit.h"

#include "target/hooks/clock.h"
#include "target/runtime/kernel_clock.h"

#define SHORT_NS 500000u
#define LONG_NS  20000000u
#define CLOSE_NS 5000 /* as callers count on, where nobody interrupts */
#define TRIES    2000

static void spin_for(uint64_t ns)
{
	uint64_t end = monotonic_ns() + ns;

	while (monotonic_ns() < end)
		;
}

static int setup(void **state)
{
	(void)state;
	clock_start();
	spin_for(LONG_NS);
	return 0;
}

static bool is_kept_for(uint64_t ns)
{
	struct clock_rate kept = { 0 };
	uint64_t first = clock_recent(&kept).ticks;

	spin_for(ns);
	return clock_recent(&kept).ticks == first;
}

/* This thread may lose its processor at any time, but not each time. */
static void is_kept_for_a_while(void **state)
{
	bool was_kept = false;

	(void)state;
	for (unsigned i = 0; i < TRIES && !was_kept; i++)
		was_kept = is_kept_for(SHORT_NS);
	assert_true(was_kept);
	assert_false(is_kept_for(LONG_NS));
}

static bool is_close(void)
{
	struct clock_rate now = clock_now();
	uint64_t before = kernel_clock_ns(CLOCK_BOOTTIME), ticks = ticks_now(),
		 after = kernel_clock_ns(CLOCK_BOOTTIME), told = clock_ns_at(&now, ticks);

	return told + CLOSE_NS >= before && told <= after + CLOSE_NS;
}

static void both_are_of_one_moment(void **state)
{
	bool was_close = false;

	(void)state;
	for (unsigned i = 0; i < TRIES && !was_close; i++)
		was_close = is_close();
	assert_true(was_close);
}

static void goes_both_ways(void **state)
{
	struct clock_rate now = clock_now();
	uint64_t at = now.ns - LONG_NS, back = clock_ns_at(&now, clock_ticks_at(&now, at));

	(void)state;
	assert_true(back - at + CLOSE_NS < 2 * CLOSE_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_kept_for_a_while),
		cmocka_unit_test(both_are_of_one_moment),
		cmocka_unit_test(goes_both_ways),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
