/*
 * Who counts in a process: queues of tools, several, kernels for a tool, or the tracer.
 */
#include "unit.h"

#include "target/amd/counters/counting_claim.h"

static void the_tracer_is_refused_beside_queues(void **state)
{
	uint32_t claim = 0;

	(void)state;
	assert_true(claim_for_queue(&claim));
	assert_true(claim_for_queue(&claim));
	claim_leave_queue(&claim);
	assert_false(claim_for_one(&claim, CLAIM_TRACER));
	claim_leave_one(&claim, CLAIM_TRACER); /* of a session that was refused */
	assert_int_equal(claim_queues(&claim), 1);
	claim_leave_queue(&claim);
	assert_true(claim_for_one(&claim, CLAIM_TRACER));
}

static void queues_are_refused_beside_the_tracer(void **state)
{
	uint32_t claim = 0;

	(void)state;
	assert_true(claim_for_one(&claim, CLAIM_TRACER));
	assert_true(claim_for_one(&claim, CLAIM_TRACER)); /* its runtime has begun again */
	assert_false(claim_for_queue(&claim));
	assert_int_equal(claim_queues(&claim), 0);
	claim_leave_one(&claim, CLAIM_TRACER);
	assert_true(claim_for_queue(&claim));
}

static void kernels_are_counted_beside_nobody(void **state)
{
	uint32_t claim = 0;

	(void)state;
	assert_true(claim_for_one(&claim, CLAIM_KERNELS));
	assert_true(claim_for_one(&claim, CLAIM_KERNELS));
	assert_true(claim_is_of_tools(&claim));
	assert_false(claim_for_queue(&claim));
	assert_false(claim_for_one(&claim, CLAIM_TRACER));
	claim_leave_one(&claim, CLAIM_TRACER); /* which was refused */
	assert_int_equal(claim_queues(&claim), 0);
	claim_leave_one(&claim, CLAIM_KERNELS);
	assert_false(claim_is_of_tools(&claim));
	assert_true(claim_for_queue(&claim));
	assert_false(claim_for_one(&claim, CLAIM_KERNELS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tracer_is_refused_beside_queues),
		cmocka_unit_test(queues_are_refused_beside_the_tracer),
		cmocka_unit_test(kernels_are_counted_beside_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
