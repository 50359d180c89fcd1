/*
 * What a process came to, from counters that are made up: which counts are not of all threads, and
 * what is said where it is not certain.  No machine with a PMU is needed.
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "host/counters/counting.h"

#define MS 1000000u

enum { CLOCK, SWITCHES, CYCLES, EVENTS };

/* A process with a set for all of it, and two threads that are counted by themselves. */
struct made_up {
	struct counter_events events;
	struct counter whole_counters[EVENTS], thread_counters[2][EVENTS];
	struct counter_thread whole_thread, threads[2];
	struct counted_process process;
	struct counting counting;
};

static void counter_put(struct counter *counter, uint64_t value)
{
	counter->now = (struct counter_reading){ value, 100 * MS, 100 * MS };
}

static void set_put(struct made_up *self, struct counter_set *set, struct counter_thread *threads,
		    size_t count)
{
	*set = (struct counter_set){ .events = &self->events, .threads = threads, .count = count };
}

static void make_up(struct made_up *self, bool by_thread)
{
	static const struct counter_sources nowhere = { "/nonexistent", "/nonexistent" };
	struct err err = { 0 };

	*self = (struct made_up){ 0 };
	assert_int_equal(counter_events_parse(&self->events, "task-clock,context-switches,cycles",
					      &nowhere, &err),
			 0);
	counter_put(&self->whole_counters[CLOCK], 200 * MS);
	counter_put(&self->whole_counters[SWITCHES], 10);
	counter_put(&self->whole_counters[CYCLES], 900);
	for (size_t i = 0; i < 2; i++) {
		counter_put(&self->thread_counters[i][CLOCK], 100 * MS);
		counter_put(&self->thread_counters[i][SWITCHES], 5);
		counter_put(&self->thread_counters[i][CYCLES], 400);
		self->threads[i].counters = self->thread_counters[i];
	}
	self->whole_thread.counters = self->whole_counters;
	set_put(self, &self->process.whole, &self->whole_thread, 1);
	set_put(self, &self->process.threads, self->threads, 2);
	self->process.whole.software_only = by_thread;
	self->counting =
		(struct counting){ .options = { .events = &self->events, .by_thread = by_thread } };
}

static enum count_status status_of(const struct made_up *self, size_t event, bool is_interval)
{
	struct counted_subject whole;

	counting_whole(&self->counting, &self->process, is_interval, &whole);
	return whole.counts[event].status;
}

static void threads_that_were_there_are_all(void **state)
{
	struct made_up made;

	(void)state;
	make_up(&made, /* by_thread */ true);
	assert_int_equal(status_of(&made, CYCLES, false), COUNT_COUNTED);
	assert_true(counting_is_complete(&made.counting, &made.process));
}

static void later_threads_make_it_incomplete(void **state)
{
	struct counted_subject whole;
	struct made_up made;

	(void)state;
	make_up(&made, /* by_thread */ true);
	made.process.later_threads = 1;
	counting_whole(&made.counting, &made.process, false, &whole);
	assert_int_equal(whole.counts[CYCLES].status, COUNT_INCOMPLETE);
	assert_int_equal(whole.counts[CYCLES].value, 800);
	assert_true(count_has_value(&whole.counts[CYCLES]));
	assert_int_equal(whole.counts[CLOCK].status, COUNT_COUNTED);
	assert_false(counting_is_complete(&made.counting, &made.process));
}

static void intervals_after_it_are_whole_again(void **state)
{
	struct made_up made;

	(void)state;
	make_up(&made, /* by_thread */ true);
	made.process.later_threads = made.process.later_threads_before = 1;
	assert_int_equal(status_of(&made, CYCLES, true), COUNT_COUNTED);
	assert_int_equal(status_of(&made, CYCLES, false), COUNT_INCOMPLETE);
	made.process.later_threads++;
	assert_int_equal(status_of(&made, CYCLES, true), COUNT_INCOMPLETE);
}

static void threads_without_counters_make_it_incomplete(void **state)
{
	struct made_up made;

	(void)state;
	make_up(&made, /* by_thread */ true);
	made.process.has_unseen_threads = true;
	assert_int_equal(status_of(&made, CYCLES, false), COUNT_INCOMPLETE);
	assert_int_equal(status_of(&made, CYCLES, true), COUNT_INCOMPLETE);
}

/* Nobody saw those threads, but the clock of the process has them. */
static void time_of_no_thread_makes_it_incomplete(void **state)
{
	struct made_up made;

	(void)state;
	make_up(&made, /* by_thread */ true);
	counter_put(&made.whole_counters[CLOCK], 201 * MS);
	assert_int_equal(status_of(&made, CYCLES, false), COUNT_COUNTED);
	counter_put(&made.whole_counters[CLOCK], 210 * MS);
	assert_int_equal(status_of(&made, CYCLES, false), COUNT_INCOMPLETE);
}

/* Without --threads the kernel hands counters on: nothing is missed. */
static void a_process_as_a_whole_misses_no_threads(void **state)
{
	struct made_up made;

	(void)state;
	make_up(&made, /* by_thread */ false);
	made.process.later_threads = 3;
	assert_int_equal(status_of(&made, CYCLES, false), COUNT_COUNTED);
	assert_true(counting_is_complete(&made.counting, &made.process));
}

/* Four threads of 1, 2, 3 and 4; all but the last have ended. */
static void make_up_ended(struct made_up *self, struct counter_thread threads[4])
{
	make_up(self, /* by_thread */ true);
	for (size_t i = 0; i < 4; i++) {
		threads[i] = (struct counter_thread){ .tid = (int)i + 1, .has_ended = i < 3 };
		threads[i].counters = calloc(EVENTS, sizeof(*threads[i].counters));
		assert_non_null(threads[i].counters);
		for (size_t k = 0; k < EVENTS; k++) {
			counter_put(&threads[i].counters[k], i + 1);
			threads[i].counters[k].fd = -1;
		}
	}
	set_put(self, &self->process.threads, threads, 4);
}

static uint64_t rest_of(const struct made_up *self, size_t event, bool is_interval)
{
	struct counted_subject rest;

	counting_rest(&self->counting, &self->process, is_interval, &rest);
	return rest.counts[event].value;
}

static void threads_that_ended_long_ago_become_one_sum(void **state)
{
	struct counter_thread threads[4];
	struct made_up made;
	struct counter_set *set = &made.process.threads;

	(void)state;
	make_up_ended(&made, threads);
	counter_set_fold(set, 3);
	assert_int_equal(set->count, 4);
	assert_int_equal(rest_of(&made, CYCLES, false), 0);
	counter_set_fold(set, 2);
	assert_int_equal(set->folded_count, 2);
	assert_int_equal(set->count, 2);
	assert_int_equal(set->threads[0].tid, 3);
	assert_int_equal(set->threads[1].tid, 4);
	assert_int_equal(counter_set_count(set, NULL, CYCLES, false).value, 10);
	assert_int_equal(counter_set_count(set, NULL, CYCLES, true).value, 10);
	assert_int_equal(counter_set_count(set, &set->threads[1], CYCLES, false).value, 4);
	/* Lines of threads and the rest add up. */
	assert_int_equal(rest_of(&made, CYCLES, false), 3);
	assert_int_equal(rest_of(&made, SWITCHES, false), 10 - 3 - 4);
	counter_set_turn(set);
	assert_int_equal(counter_set_count(set, NULL, CYCLES, true).value, 0);
	assert_int_equal(rest_of(&made, CYCLES, true), 0);
	counter_set_clear(set);
	assert_int_equal(set->folded_count, 0);
}

/* In doubt, with a clock that agrees. */
static void make_up_doubt(struct made_up *self)
{
	make_up(self, /* by_thread */ false);
	self->process.has_doubt = true;
	self->process.cpu_begin_ns = 1000 * MS;
	self->process.cpu_end_ns = 1200 * MS;
}

static enum counting_verdict verdict_of(const struct made_up *self)
{
	double share;
	enum counting_verdict verdict = counting_check(&self->counting, &self->process, &share);

	assert_int_equal(counting_is_complete(&self->counting, &self->process),
			 verdict == COUNTING_WHOLE);
	return verdict;
}

static void the_clock_of_the_process_decides(void **state)
{
	struct made_up made;

	(void)state;
	make_up_doubt(&made);
	assert_int_equal(verdict_of(&made), COUNTING_WHOLE);
	made.process.cpu_end_ns = 1400 * MS;
	assert_int_equal(verdict_of(&made), COUNTING_OFF);
	made.process.cpu_end_ns = 1100 * MS;
	assert_int_equal(verdict_of(&made), COUNTING_OFF);
	made.process.has_doubt = false;
	assert_int_equal(verdict_of(&made), COUNTING_WHOLE);
}

static void what_cannot_be_compared_stays_doubtful(void **state)
{
	struct made_up made;

	(void)state;
	make_up_doubt(&made);
	made.process.cpu_end_ns = 0; /* it is gone */
	assert_int_equal(verdict_of(&made), COUNTING_DOUBTFUL);
	make_up_doubt(&made);
	made.process.whole.answers[SWITCHES].refusal = -EACCES;
	assert_int_equal(verdict_of(&made), COUNTING_DOUBTFUL);
	make_up_doubt(&made);
	made.events.items[CLOCK].exclusions = COUNTER_NO_USER;
	assert_int_equal(verdict_of(&made), COUNTING_DOUBTFUL);
	make_up_doubt(&made);
	made.process.cpu_end_ns = 1001 * MS;
	assert_int_equal(verdict_of(&made), COUNTING_DOUBTFUL);
	make_up_doubt(&made);
	made.process.has_doubt = false;
	made.process.has_new_rights = true;
	made.process.cpu_end_ns = 0;
	assert_int_equal(verdict_of(&made), COUNTING_DOUBTFUL);
}

/* What they did may stand for what is missing of their parent. */
static void children_leave_a_doubt(void **state)
{
	struct made_up made;

	(void)state;
	make_up_doubt(&made);
	made.counting.options.has_children = true;
	assert_int_equal(verdict_of(&made), COUNTING_DOUBTFUL);
	made.process.cpu_end_ns = 1400 * MS;
	assert_int_equal(verdict_of(&made), COUNTING_OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_were_there_are_all),
		cmocka_unit_test(later_threads_make_it_incomplete),
		cmocka_unit_test(intervals_after_it_are_whole_again),
		cmocka_unit_test(threads_without_counters_make_it_incomplete),
		cmocka_unit_test(time_of_no_thread_makes_it_incomplete),
		cmocka_unit_test(a_process_as_a_whole_misses_no_threads),
		cmocka_unit_test(threads_that_ended_long_ago_become_one_sum),
		cmocka_unit_test(the_clock_of_the_process_decides),
		cmocka_unit_test(what_cannot_be_compared_stays_doubtful),
		cmocka_unit_test(children_leave_a_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
