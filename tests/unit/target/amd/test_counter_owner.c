/*
 * Who counts in a process: queues of tools, several, kernels for a tool, or the tracer.
 */
#include "unit.h"

#include "target/amd/counters/owner.h"

static void the_tracer_is_refused_beside_queues(void **state)
{
	(void)state;
	owner_adopt();
	assert_true(owner_add_queue());
	assert_true(owner_add_queue());
	owner_remove_queue();
	assert_false(owner_claim(OWNER_TRACER));
	owner_release(OWNER_TRACER); /* of a session that was refused */
	assert_int_equal(owner_queues(), 1);
	owner_remove_queue();
	assert_true(owner_claim(OWNER_TRACER));
}

static void queues_are_refused_beside_the_tracer(void **state)
{
	(void)state;
	owner_adopt();
	assert_true(owner_claim(OWNER_TRACER));
	assert_true(owner_claim(OWNER_TRACER)); /* its runtime has begun again */
	assert_false(owner_add_queue());
	assert_int_equal(owner_queues(), 0);
	owner_release(OWNER_TRACER);
	assert_true(owner_add_queue());
}

static void kernels_are_counted_beside_nobody(void **state)
{
	(void)state;
	owner_adopt();
	assert_true(owner_claim(OWNER_KERNELS));
	assert_true(owner_claim(OWNER_KERNELS));
	assert_true(owner_is_tool());
	assert_false(owner_add_queue());
	assert_false(owner_claim(OWNER_TRACER));
	owner_release(OWNER_TRACER); /* which was refused */
	assert_int_equal(owner_queues(), 0);
	owner_release(OWNER_KERNELS);
	assert_false(owner_is_tool());
	assert_true(owner_add_queue());
	assert_false(owner_claim(OWNER_KERNELS));
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
