/*
 * Commands that wait for signals: who has one, who is told, and who comes too late.
 */
#include "unit.h"

#include "target/amd/hsa/pending.h"

#define SIGNAL 0x7000u
#define OTHER  0x8000u

static int setup(void **state)
{
	(void)state;
	return pending_open();
}

static void add(uint64_t signal, int64_t done_at, uint64_t cause)
{
	struct hsa_command command = { .signal = signal, .done_at = done_at, .cause = cause };

	assert_true(pending_add(&command));
}

static void each_is_taken_once_and_when_it_is_done(void **state)
{
	struct hsa_command command;
	uint64_t token;

	(void)state;
	add(SIGNAL, 1, 11);
	add(SIGNAL, 0, 12);
	add(OTHER, 0, 13);
	assert_int_equal(pending_count_of(SIGNAL), 2);
	assert_int_equal(pending_acquire(SIGNAL, 2, &command), 0);
	token = pending_acquire(SIGNAL, 1, &command);
	assert_int_not_equal(token, 0);
	assert_int_equal(command.cause, 11);
	assert_int_equal(pending_acquire(SIGNAL, 1, &command), 0);
	assert_int_equal(pending_count(), 3);
	pending_release(token);
	assert_int_equal(pending_count(), 2);
	assert_true(pending_cancel(OTHER, 13));
	assert_false(pending_cancel(OTHER, 13));
}

/* From when somebody is about to look at the signal until nobody does. */
static void a_signal_is_known_as_long_as_it_may_be_looked_at(void **state)
{
	struct hsa_command command = { .signal = SIGNAL };
	uint64_t token = pending_hold(SIGNAL);

	(void)state;
	assert_int_not_equal(token, 0);
	assert_true(pending_has(SIGNAL));
	assert_int_equal(pending_count_of(SIGNAL), 0);
	assert_true(pending_fill(token, &command));
	assert_true(pending_has(SIGNAL));
	token = pending_acquire(SIGNAL, 0, &command);
	assert_true(pending_has(SIGNAL));
	assert_true(pending_put_back(token));
	assert_true(pending_has(SIGNAL));
	pending_release(pending_acquire(SIGNAL, 0, &command));
	assert_false(pending_has(SIGNAL));
}

/* He had it when the session ended, and comes to give it back in the next one. */
static void who_comes_late_changes_nothing(void **state)
{
	struct hsa_command command;
	uint64_t token, held;

	(void)state;
	add(SIGNAL, 0, 1);
	token = pending_acquire(SIGNAL, 0, &command);
	held = pending_hold(SIGNAL);
	assert_int_equal(pending_open(), 0);
	assert_int_equal(pending_count(), 0);
	pending_release(token);
	assert_false(pending_fill(held, &command));
	assert_int_equal(pending_count(), 0);
	add(SIGNAL, 0, 2);
	pending_release(token);
	pending_release(held);
	assert_int_equal(pending_count(), 1);
	assert_int_not_equal(pending_acquire(SIGNAL, 0, &command), 0);
	assert_int_equal(command.cause, 2);
}

/* A thread that ended in the midst is waited for once, not each time that the signal comes again.
 */
static void who_never_comes_is_given_up(void **state)
{
	struct hsa_command command;
	uint64_t token;

	(void)state;
	add(SIGNAL, 0, 1);
	token = pending_acquire(SIGNAL, 0, &command);
	assert_true(pending_has(SIGNAL));
	pending_drop(SIGNAL);
	assert_false(pending_has(SIGNAL));
	add(SIGNAL, 0, 2);
	pending_release(token);
	assert_false(pending_put_back(token));
	assert_int_equal(pending_count_of(SIGNAL), 1);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_is_taken_once_and_when_it_is_done),
		TEST(a_signal_is_known_as_long_as_it_may_be_looked_at),
		TEST(who_comes_late_changes_nothing),
		TEST(who_never_comes_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
