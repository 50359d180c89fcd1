/*
 * What is read beyond the copy of a stack, and whether it is of the same moment.  The stack is a
 * buffer of this process.
 */
#include "unit.h"

#include "host/sampling/copy/copied_stack.h"

#include <string.h>
#include <unistd.h>

#define WORDS 64u

struct made {
	uint64_t live[WORDS], copy[WORDS];
	uint64_t *other; /* far away: another stack */
	struct perf_sample sample;
	struct copied_stack stack;
};

static uint64_t far_away[2] = { 7, 8 };

static void make(struct made *ret)
{
	*ret = (struct made){ .other = far_away };
	for (unsigned i = 0; i < WORDS; i++)
		ret->live[i] = ret->copy[i] = 1000 + i;
	ret->sample = (struct perf_sample){ .registers.sp = (uint64_t)(uintptr_t)ret->live,
					    .stack = (const unsigned char *)ret->copy,
					    .stack_size = sizeof(ret->copy) };
	ret->stack.sample = &ret->sample;
	ret->stack.beyond.pid = getpid();
	copied_stack_begin(&ret->stack);
}

static uint64_t read_at(struct made *made, const uint64_t *address)
{
	uint64_t word = 0;

	return copied_stack_read(&made->stack, (uint64_t)(uintptr_t)address, &word, sizeof(word))
		       ? 0
		       : word;
}

static void reads_the_copy_not_what_is_there_now(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	made.live[3] = 1;
	assert_int_equal(read_at(&made, &made.live[3]), 1003);
	assert_false(made.stack.beyond.was_read);
}

static void what_lies_elsewhere_is_as_it_is_now(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	assert_int_equal(read_at(&made, &made.live[5]), 1005);
	assert_int_equal(read_at(&made, made.other), 7);
	assert_true(made.stack.beyond.was_read);
	assert_true(copied_stack_stands(&made.stack));
}

static void a_thread_that_went_on_is_noticed(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	read_at(&made, &made.live[5]);
	read_at(&made, made.other);
	made.live[5]++;
	assert_false(copied_stack_stands(&made.stack));
}

/* Its innermost calls may be others by now: the outermost ones count, from which the walk left. */
static void calls_farther_in_may_have_changed(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	for (unsigned i = 0; i < 2 * COPIED_LAST; i++)
		read_at(&made, &made.live[i]);
	read_at(&made, made.other);
	made.live[COPIED_LAST - 1]++;
	assert_true(copied_stack_stands(&made.stack));
	made.live[COPIED_LAST]++;
	assert_false(copied_stack_stands(&made.stack));
}

static void what_is_shut_is_not_read(void **state)
{
	struct made made;

	(void)state;
	make(&made);
	made.stack.is_shut = true;
	assert_int_equal(read_at(&made, made.other), 0);
	assert_int_equal(read_at(&made, &made.live[5]), 1005);
	assert_false(made.stack.beyond.was_read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_copy_not_what_is_there_now),
		cmocka_unit_test(what_lies_elsewhere_is_as_it_is_now),
		cmocka_unit_test(a_thread_that_went_on_is_noticed),
		cmocka_unit_test(calls_farther_in_may_have_changed),
		cmocka_unit_test(what_is_shut_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
