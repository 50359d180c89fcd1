/*
 * The states of a tool: the whole table, so that a change of it is a change here.
 */
#include "unit.h"

#include <errno.h>

#include "target/lifecycle/machine.h"

#define NO (-EINVAL)

static const int expected[TOOL_STATES][TOOL_EVENTS] = {
	/* BEGIN, ATTACHED, FAIL, LEAVE, LEFT, RESET */
	[TOOL_IDLE] = { TOOL_ATTACHING, NO, NO, NO, NO, TOOL_IDLE },
	[TOOL_ATTACHING] = { NO, TOOL_ATTACHED, TOOL_FAILED, NO, TOOL_DETACHED, NO },
	[TOOL_ATTACHED] = { NO, NO, NO, TOOL_DETACHING, NO, NO },
	[TOOL_DETACHING] = { NO, NO, TOOL_FAILED, NO, TOOL_DETACHED, NO },
	[TOOL_DETACHED] = { TOOL_ATTACHING, NO, NO, NO, NO, TOOL_IDLE },
	[TOOL_FAILED] = { TOOL_ATTACHING, NO, NO, NO, NO, TOOL_IDLE },
};

static void follows_the_drawing(void **state)
{
	(void)state;
	for (unsigned from = 0; from < TOOL_STATES; from++)
		for (unsigned event = 0; event < TOOL_EVENTS; event++)
			assert_int_equal(machine_next(from, event), expected[from][event]);
}

static void knows_nothing_beyond(void **state)
{
	(void)state;
	assert_int_equal(machine_next(TOOL_STATES, EVENT_BEGIN), NO);
	assert_int_equal(machine_next(TOOL_IDLE, TOOL_EVENTS), NO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_drawing),
		cmocka_unit_test(knows_nothing_beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
