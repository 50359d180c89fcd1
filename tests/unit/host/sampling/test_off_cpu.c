/*
 * Which wait a stack belongs to that was read from outside, while records may be missing.
 */
#include "unit.h"

#include "host/sampling/off_cpu.h"

static struct off_thread waiting_since(uint64_t since_ns, uint64_t read_ns)
{
	return (struct off_thread){
		.is_out = true, .since_ns = since_ns, .has_stack = true, .read_ns = read_ns
	};
}

static void owns_what_was_read_while_it_waited(void **state)
{
	struct off_thread thread = waiting_since(100, 150);

	(void)state;
	assert_true(off_thread_owns_stack(&thread, 200));
	thread.read_ns = 0; /* it left with that one */
	assert_true(off_thread_owns_stack(&thread, 200));
	thread.has_stack = false;
	assert_false(off_thread_owns_stack(&thread, 200));
}

static void does_not_own_that_of_another_wait(void **state)
{
	struct off_thread later = waiting_since(100, 250), earlier = waiting_since(300, 250);

	(void)state;
	assert_false(off_thread_owns_stack(&later, 200));
	assert_false(off_thread_owns_stack(&earlier, 400));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owns_what_was_read_while_it_waited),
		cmocka_unit_test(does_not_own_that_of_another_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
