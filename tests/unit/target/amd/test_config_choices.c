/*
 * Which config a tool is expected to choose next.
 */
#include "unit.h"

#include "target/amd/sinks/sdk/counters/dispatch/choices.h"

/* How many of `count` kernels it was right for, where the tool takes one of so many in turn, each
 * for so many kernels. */
static unsigned guesses(unsigned configs, unsigned length, unsigned count)
{
	struct config_choices choices = { 0 };
	uint64_t expected = 0;
	unsigned right = 0;

	for (unsigned i = 0; i < count; i++) {
		uint64_t config = 100 + i / length % configs;

		right += expected == config;
		expected = config_choices_note(&choices, config);
	}
	return right;
}

static void one_config_is_expected_from_then_on(void **state)
{
	(void)state;
	assert_int_equal(guesses(1, 1, 100), 99);
}

/* The first round teaches what the next is like. */
static void configs_in_turn_are_expected_in_turn(void **state)
{
	(void)state;
	assert_int_equal(guesses(2, 1, 100), 97);
	assert_int_equal(guesses(4, 1, 100), 95);
	assert_int_equal(guesses(CHOICES_KEPT, 1, 1000), 1000 - CHOICES_KEPT - 1);
	assert_int_equal(guesses(2, 2, 100), 97);
	assert_int_equal(guesses(3, 10, 300), 296);
}

/* More than are kept: never more than the first one of each run is lost. */
static void many_configs_are_expected_within_a_run(void **state)
{
	(void)state;
	assert_true(guesses(2 * CHOICES_KEPT, 10, 1600) >= 1600 - 160);
}

static void a_tool_that_stops_to_go_round_is_followed(void **state)
{
	struct config_choices choices = { 0 };

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		(void)config_choices_note(&choices, 100 + i % 2);
	(void)config_choices_note(&choices, 101);
	assert_int_equal(config_choices_note(&choices, 101), 101);
	assert_int_equal(config_choices_note(&choices, 101), 101);
}

static void a_thread_that_is_at_it_is_not_waited_for(void **state)
{
	struct config_choices choices = { .is_taken = 1 };

	(void)state;
	assert_int_equal(config_choices_note(&choices, 7), 7);
	assert_int_equal(choices.last, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_config_is_expected_from_then_on),
		cmocka_unit_test(configs_in_turn_are_expected_in_turn),
		cmocka_unit_test(many_configs_are_expected_within_a_run),
		cmocka_unit_test(a_tool_that_stops_to_go_round_is_followed),
		cmocka_unit_test(a_thread_that_is_at_it_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
