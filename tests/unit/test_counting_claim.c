/*
 * Who counts devices in a process: queues of tools, several, or the tracer.
 */
#include "unit.h"

#include "target/runtime/amd/counting_claim.h"

static void the_tracer_is_refused_beside_queues(void **state)
{
	uint32_t claim = 0;

	(void)state;
	assert_true(claim_for_queue(&claim));
	assert_true(claim_for_queue(&claim));
	claim_leave_queue(&claim);
	assert_false(claim_for_tracer(&claim));
	claim_leave_tracer(&claim); /* of a session that was refused */
	assert_int_equal(claim_queues(&claim), 1);
	claim_leave_queue(&claim);
	assert_true(claim_for_tracer(&claim));
}

static void queues_are_refused_beside_the_tracer(void **state)
{
	uint32_t claim = 0;

	(void)state;
	assert_true(claim_for_tracer(&claim));
	assert_true(claim_for_tracer(&claim)); /* its runtime has begun again */
	assert_false(claim_for_queue(&claim));
	assert_int_equal(claim_queues(&claim), 0);
	claim_leave_tracer(&claim);
	assert_true(claim_for_queue(&claim));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tracer_is_refused_beside_queues),
		cmocka_unit_test(queues_are_refused_beside_the_tracer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
