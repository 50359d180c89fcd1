/*
 * How large copies of stacks must be, by what stacks asked for.
 */
#include "unit.h"

#include "host/sampling/copy/copied_stack.h"

static const struct stack_use fits = { 0 };
static const struct stack_use deep = { .deepest = 40000 };
static const struct stack_use cut = { .deepest = 16392, .is_cut = true };
static const struct stack_use gone = { .elsewhere = true, .is_cut = true };

static struct stack_need after(unsigned count, const struct stack_use *use)
{
	struct stack_need need = { 0 };

	for (unsigned i = 0; i < count; i++)
		stack_need_note(&need, use);
	return need;
}

static void stacks_that_fit_change_nothing(void **state)
{
	struct stack_need need = after(5000, &fits);

	(void)state;
	assert_int_equal(stack_need_size(&need, STACK_NEED_FIRST), STACK_NEED_FIRST);
	assert_false(stack_need_haste(&need, STACK_NEED_FIRST));
}

static void the_first_that_is_cut_is_enough(void **state)
{
	struct stack_need need = after(1, &cut);

	(void)state;
	assert_int_equal(stack_need_size(&need, STACK_NEED_FIRST), STACK_NEED_MOST);
	need = after(100000, &fits);
	stack_need_note(&need, &cut);
	assert_int_equal(stack_need_size(&need, STACK_NEED_FIRST), STACK_NEED_MOST);
	assert_int_equal(stack_need_size(&need, STACK_NEED_MOST), STACK_NEED_MOST);
}

static void grows_to_what_was_needed(void **state)
{
	struct stack_need need = after(10, &deep);
	uint32_t size = stack_need_size(&need, STACK_NEED_FIRST);

	(void)state;
	assert_in_range(size, 40000, STACK_NEED_MOST);
	assert_int_equal(size % 8, 0);
	assert_int_equal(stack_need_size(&need, 40000), STACK_NEED_MOST);
}

/* A few of many are read from the process, and that is enough. */
static void few_deep_ones_change_nothing(void **state)
{
	struct stack_need need = after(500, &fits);

	(void)state;
	stack_need_note(&need, &deep);
	assert_int_equal(stack_need_size(&need, STACK_NEED_FIRST), STACK_NEED_FIRST);
}

/* However long the other phase was before. */
static void a_late_phase_is_seen(void **state)
{
	struct stack_need need = after(1000000, &fits);

	(void)state;
	for (unsigned i = 0; i < 12; i++)
		stack_need_note(&need, &deep);
	assert_true(stack_need_size(&need, STACK_NEED_FIRST) > STACK_NEED_FIRST);
}

static void another_stack_needs_haste_and_no_larger_copy(void **state)
{
	struct stack_need need = after(1, &gone);

	(void)state;
	assert_int_equal(stack_need_size(&need, STACK_NEED_FIRST), STACK_NEED_FIRST);
	assert_true(stack_need_haste(&need, STACK_NEED_FIRST));
}

/* A handler of a rare signal, on its own stack. */
static void few_on_another_stack_need_no_haste(void **state)
{
	struct stack_need need = after(500, &fits);

	(void)state;
	stack_need_note(&need, &gone);
	assert_false(stack_need_haste(&need, STACK_NEED_FIRST));
}

static void what_the_largest_copy_lacks_needs_haste(void **state)
{
	struct stack_need need = after(10, &deep);

	(void)state;
	assert_false(stack_need_haste(&need, STACK_NEED_FIRST));
	assert_true(stack_need_haste(&need, STACK_NEED_MOST));
}

/* Rings of a user without rights hold a few of the largest copies only. */
static void large_rings_begin_with_the_largest(void **state)
{
	(void)state;
	assert_int_equal(stack_need_first(16u << 20), STACK_NEED_MOST);
	assert_int_equal(stack_need_first(256u << 10), STACK_NEED_FIRST);
	assert_int_equal(stack_need_first(0), STACK_NEED_FIRST);
}

static struct stack_need on_trial(unsigned count, uint64_t within)
{
	struct stack_need need = { .is_trial = true };

	for (unsigned i = 0; i < count; i++)
		stack_need_note(&need, &(struct stack_use){ .within = within });
	return need;
}

static void a_trial_ends_with_what_was_needed(void **state)
{
	struct stack_need need = on_trial(20, 3000);

	(void)state;
	assert_int_equal(stack_need_size(&need, STACK_NEED_MOST), STACK_NEED_MOST);
	need = on_trial(300, 3000);
	assert_int_equal(stack_need_size(&need, STACK_NEED_MOST), STACK_NEED_FIRST);
	need = on_trial(300, 15000);
	assert_in_range(stack_need_size(&need, STACK_NEED_MOST), 30000, 34000);
	need = on_trial(300, 60000);
	assert_int_equal(stack_need_size(&need, STACK_NEED_MOST), STACK_NEED_MOST);
}

static void a_trial_keeps_what_stacks_ran_off(void **state)
{
	struct stack_need need = on_trial(300, 3000);

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		stack_need_note(&need, &(struct stack_use){ .deepest = 70000 });
	assert_int_equal(stack_need_size(&need, STACK_NEED_MOST), STACK_NEED_MOST);
}

/* Which no copy would have held. */
static void a_trial_ends_in_spite_of_one_that_ran_off(void **state)
{
	struct stack_need need = on_trial(300, 3000);

	(void)state;
	stack_need_note(&need, &(struct stack_use){ .deepest = 70000 });
	assert_int_equal(stack_need_size(&need, STACK_NEED_MOST), STACK_NEED_FIRST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_that_fit_change_nothing),
		cmocka_unit_test(the_first_that_is_cut_is_enough),
		cmocka_unit_test(grows_to_what_was_needed),
		cmocka_unit_test(few_deep_ones_change_nothing),
		cmocka_unit_test(a_late_phase_is_seen),
		cmocka_unit_test(another_stack_needs_haste_and_no_larger_copy),
		cmocka_unit_test(few_on_another_stack_need_no_haste),
		cmocka_unit_test(what_the_largest_copy_lacks_needs_haste),
		cmocka_unit_test(large_rings_begin_with_the_largest),
		cmocka_unit_test(a_trial_ends_with_what_was_needed),
		cmocka_unit_test(a_trial_keeps_what_stacks_ran_off),
		cmocka_unit_test(a_trial_ends_in_spite_of_one_that_ran_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
