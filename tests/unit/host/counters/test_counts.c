/*
 * Counts from readings that are made up: scaling, sums over threads, ratios, reasons.  No machine
 * with a PMU is needed.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "host/counters/count.h"
#include "host/counters/reason.h"

static const struct counter_event plain = { .name = "cycles", .base = "cycles", .needs_pmu = true };

static struct count counted(const struct counter_event *event,
			    const struct counter_reading *readings, size_t count)
{
	struct counter_sum sum = { 0 };

	for (size_t i = 0; i < count; i++)
		counter_sum_add(&sum, &readings[i]);
	return counter_sum_count(&sum, event);
}

#define COUNTED(event, ...)                                               \
	counted(event, (const struct counter_reading[]){ __VA_ARGS__ },   \
		sizeof((const struct counter_reading[]){ __VA_ARGS__ }) / \
			sizeof(struct counter_reading))

static void assert_count(struct count count, enum count_status status, uint64_t value, double share)
{
	assert_int_equal(count.status, status);
	assert_true(count.value == value);
	assert_true(count.share > share - 1e-9 && count.share < share + 1e-9);
}

static void all_of_the_time_is_as_counted(void **state)
{
	(void)state;
	assert_count(COUNTED(&plain, { 100, 50, 50 }, { 7, 1000, 1000 }), COUNT_COUNTED, 107, 1);
}

static void part_of_the_time_is_scaled(void **state)
{
	(void)state;
	assert_count(COUNTED(&plain, { 100, 1000, 250 }), COUNT_SCALED, 400, 0.25);
	/* Each thread by its own share. */
	assert_count(COUNTED(&plain, { 100, 1000, 250 }, { 1000, 1000, 1000 }), COUNT_SCALED, 1400,
		     0.625);
}

static void a_thread_that_was_never_counted_did_what_others_did(void **state)
{
	(void)state;
	assert_count(COUNTED(&plain, { 300, 1000, 1000 }, { 0, 500, 0 }), COUNT_SCALED, 450,
		     1000.0 / 1500);
}

static void no_time_at_all_is_not_counted(void **state)
{
	(void)state;
	assert_count(COUNTED(&plain, { 0, 1000, 0 }), COUNT_NOT_COUNTED, 0, 0);
	assert_count(COUNTED(&plain, { 0, 1000, 0 }, { 0, 0, 0 }), COUNT_NOT_COUNTED, 0, 0);
}

/* In an interval the two times of a thread need not grow together. */
static void times_that_do_not_fit_are_not_scaled(void **state)
{
	(void)state;
	assert_count(COUNTED(&plain, { 5, 0, 3 }, { 0, 1000, 0 }), COUNT_NOT_COUNTED, 0, 0);
	assert_count(COUNTED(&plain, { 5, 0, 3 }), COUNT_COUNTED, 5, 1);
}

static void who_never_ran_has_a_true_zero(void **state)
{
	(void)state;
	assert_count(COUNTED(&plain, { 0, 0, 0 }, { 0, 0, 0 }), COUNT_COUNTED, 0, 1);
	assert_count(COUNTED(&plain, { 0, 0, 0 }, { 5, 9, 9 }), COUNT_COUNTED, 5, 1);
}

static void large_counts_do_not_overflow(void **state)
{
	(void)state;
	assert_count(COUNTED(&plain, { 1ull << 60, 4ull << 50, 2ull << 50 }), COUNT_SCALED,
		     2ull << 60, 0.5);
	assert_count(COUNTED(&plain, { UINT64_MAX, 1000, 1 }), COUNT_SCALED, UINT64_MAX, 0.001);
}

/* A thread that was on the other kind of processor did nothing on this one. */
static void counts_of_some_processors_are_not_scaled(void **state)
{
	const struct counter_event partial = { .base = "cycles", .is_partial = true };

	(void)state;
	assert_count(COUNTED(&partial, { 100, 1000, 250 }), COUNT_COUNTED, 100, 0.25);
	assert_count(COUNTED(&partial, { 0, 1000, 0 }), COUNT_NOT_COUNTED, 0, 0);
}

static void intervals_are_differences(void **state)
{
	const struct counter_reading before = { 100, 50, 40 }, now = { 130, 80, 60 };
	struct counter_reading since = counter_reading_since(&now, &before);

	(void)state;
	assert_int_equal(since.value, 30);
	assert_int_equal(since.enabled_ns, 30);
	assert_int_equal(since.running_ns, 20);
	assert_int_equal(counter_reading_since(&before, &now).value, 0);
}

static void the_rest_is_what_is_left(void **state)
{
	const struct count whole = { COUNT_COUNTED, 100, 1 }, part = { COUNT_SCALED, 70, 0.5 },
			   none = { COUNT_NOT_COUNTED, 0, 0 };

	(void)state;
	assert_count(count_rest(&whole, &part), COUNT_SCALED, 30, 0.5);
	assert_count(count_rest(&part, &whole), COUNT_SCALED, 0, 0.5);
	assert_count(count_rest(&whole, &none), COUNT_NOT_COUNTED, 0, 0);
	assert_count(count_rest(&none, &part), COUNT_NOT_COUNTED, 0, 0);
}

static struct counter_metric metric_of(const char *list, const struct count *counts, size_t index)
{
	static const struct counter_sources nowhere = { "/nonexistent", "/nonexistent" };
	struct counter_events events = { 0 };
	struct err err = { 0 };

	assert_int_equal(counter_events_parse(&events, list, &nowhere, &err), 0);
	return counter_metric_find(&events, counts, index, 2000000000u);
}

static void ratios_are_found(void **state)
{
	const struct count counts[] = { { COUNT_COUNTED, 1000000000, 1 },
					{ COUNT_SCALED, 3000000000, 0.5 },
					{ COUNT_COUNTED, 1500000000, 1 },
					{ COUNT_NOT_COUNTED, 0, 0 },
					{ COUNT_COUNTED, 40, 1 } };
	const char *list = "task-clock,cycles,instructions,branches,branch-misses";

	(void)state;
	assert_string_equal(metric_of(list, counts, 0).unit, "CPUs utilized");
	assert_true(metric_of(list, counts, 0).value == 0.5);
	assert_string_equal(metric_of(list, counts, 1).unit, "GHz");
	assert_true(metric_of(list, counts, 1).value == 3);
	assert_string_equal(metric_of(list, counts, 2).unit, "per cycle");
	assert_true(metric_of(list, counts, 2).value == 0.5);
	assert_null(metric_of(list, counts, 3).unit);
	/* There are no branches to compare with. */
	assert_string_equal(metric_of(list, counts, 4).unit, "/s");
	assert_true(metric_of(list, counts, 4).value == 20);
}

/* Some threads' cycles are no share of the time of all. */
static void ratios_are_of_the_same_threads(void **state)
{
	const struct count counts[] = { { COUNT_COUNTED, 1000000000, 1 },
					{ COUNT_INCOMPLETE, 100, 1 },
					{ COUNT_INCOMPLETE, 50, 1 } };
	const char *list = "task-clock,cycles,instructions";

	(void)state;
	assert_null(metric_of(list, counts, 1).unit);
	assert_true(metric_of(list, counts, 2).value == 0.5);
}

/* User mode's instructions are no share of all cycles. */
static void ratios_are_of_the_same_modes(void **state)
{
	const struct count counts[] = { { COUNT_COUNTED, 100, 1 },
					{ COUNT_COUNTED, 50, 1 },
					{ COUNT_COUNTED, 200, 1 } };

	(void)state;
	assert_string_equal(metric_of("cycles,instructions:u", counts, 1).unit, "/s");
	assert_true(metric_of("cycles,instructions:u,cycles:u", counts, 1).value == 0.25);
}

static void attributes_say_what_is_counted(void **state)
{
	struct counter_event event = { .type = 3, .config = 4, .config1 = 5, .config2 = 6 };
	struct perf_event_attr attr = counter_attr(&event, HEIRS_THREADS, false, true);

	(void)state;
	assert_int_equal(attr.type, 3);
	assert_int_equal(attr.config, 4);
	assert_int_equal(attr.config1, 5);
	assert_int_equal(attr.config2, 6);
	assert_true(attr.disabled && attr.inherit && attr.inherit_thread);
	assert_false(attr.exclude_kernel || attr.exclude_user || attr.exclude_guest);
	attr = counter_attr(&event, HEIRS_PROCESSES, true, false);
	assert_true(attr.inherit && !attr.inherit_thread && !attr.disabled);
	assert_true(attr.exclude_kernel && attr.exclude_hv && !attr.exclude_user);
	event.exclusions = COUNTER_NO_USER | COUNTER_NO_HOST;
	attr = counter_attr(&event, HEIRS_NONE, false, true);
	assert_true(attr.exclude_user && attr.exclude_host && !attr.exclude_kernel);
	assert_false(attr.inherit || attr.inherit_thread);
}

/* Threads of others may have the number of one that has ended. */
static void a_thread_of_another_process_is_not_counted(void **state)
{
	static const struct counter_sources nowhere = { "/nonexistent", "/nonexistent" };
	struct counter_events events = { 0 };
	struct err err = { 0 };
	struct counter_set set;

	(void)state;
	assert_int_equal(counter_events_parse(&events, "task-clock", &nowhere, &err), 0);
	counter_set_init(&set, &events, HEIRS_NONE);
	if (counter_set_add(&set, getpid(), getpid(), &err) || set.answers[0].refusal) {
		counter_set_done(&set);
		skip();
	}
	assert_int_equal(counter_set_add(&set, getppid(), getpid(), &err), -ESRCH);
	assert_int_equal(set.count, 1);
	/* What the kernel said to it holds for no other. */
	events.items[0].type = UINT32_MAX;
	assert_int_equal(counter_set_add(&set, getppid(), getpid(), &err), -ESRCH);
	assert_int_equal(set.answers[0].refusal, 0);
	counter_set_done(&set);
}

static void each_refusal_has_a_reason(void **state)
{
	static const struct {
		struct counter_answer answer;
		struct count count;
		struct counter_machine machine;
		const char *why, *fix;
	} cases[] = {
		{ { -ENOENT }, { COUNT_NOT_SUPPORTED }, { false, 2 }, "PMU", "virtual" },
		{ { -ENOENT }, { COUNT_NOT_SUPPORTED }, { true, 2 }, "this CPU", "--list" },
		{ { -EOPNOTSUPP }, { COUNT_NOT_SUPPORTED }, { true, 2 }, "this CPU", "--list" },
		{ { -EACCES },
		  { COUNT_NOT_COUNTED },
		  { true, 3 },
		  "kernel.perf_event_paranoid is 3",
		  "sysctl" },
		{ { -EBUSY }, { COUNT_NOT_COUNTED }, { true, 2 }, "another program", "later" },
		{ { -EINVAL }, { COUNT_NOT_SUPPORTED }, { true, 2 }, "for a process", "--list" },
		{ { -EDOM }, { COUNT_NOT_SUPPORTED }, { true, 2 }, "in the kernel", ":u" },
		{ { 0 }, { COUNT_NOT_COUNTED }, { true, 2 }, "taken by other events", "-e" },
		{ { 0 }, { COUNT_SCALED, 9, 0.5 }, { true, 2 }, "scaled", "-e" },
		{ { 0 }, { COUNT_INCOMPLETE, 9, 1 }, { true, 2 }, "threads began", "--threads" },
		{ { 0, .is_user_only = true },
		  { COUNT_COUNTED, 9, 1 },
		  { true, 2 },
		  "only user mode",
		  "kernel.perf_event_paranoid=1" },
	};
	struct counter_reason reason;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(counter_reason_find(&plain, &cases[i].answer, &cases[i].count,
						&cases[i].machine, &reason));
		assert_non_null(strstr(reason.why, cases[i].why));
		assert_non_null(strstr(reason.fix, cases[i].fix));
	}
}

static void what_was_counted_needs_no_reason(void **state)
{
	const struct counter_event clock = { .is_time = true };
	const struct counter_answer all = { 0 }, user = { .is_user_only = true };
	const struct count count = { COUNT_COUNTED, 1, 1 };
	const struct counter_machine machine = { true, 2 };
	struct counter_reason reason;

	(void)state;
	assert_false(counter_reason_find(&plain, &all, &count, &machine, &reason));
	/* Processor time is the same in either mode. */
	assert_false(counter_reason_find(&clock, &user, &count, &machine, &reason));
}

static void names_show_the_mode(void **state)
{
	const struct counter_event pmu = { .name = "cpu/event=1/" },
				   clock = { .name = "task-clock", .is_time = true };
	const struct counter_answer all = { 0 }, user = { .is_user_only = true };
	char name[COUNTER_NAME_MAX];

	(void)state;
	counter_shown_name(&plain, &all, name);
	assert_string_equal(name, "cycles");
	counter_shown_name(&plain, &user, name);
	assert_string_equal(name, "cycles:u");
	counter_shown_name(&pmu, &user, name);
	assert_string_equal(name, "cpu/event=1/u");
	counter_shown_name(&clock, &user, name);
	assert_string_equal(name, "task-clock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_the_time_is_as_counted),
		cmocka_unit_test(part_of_the_time_is_scaled),
		cmocka_unit_test(a_thread_that_was_never_counted_did_what_others_did),
		cmocka_unit_test(no_time_at_all_is_not_counted),
		cmocka_unit_test(times_that_do_not_fit_are_not_scaled),
		cmocka_unit_test(who_never_ran_has_a_true_zero),
		cmocka_unit_test(large_counts_do_not_overflow),
		cmocka_unit_test(counts_of_some_processors_are_not_scaled),
		cmocka_unit_test(intervals_are_differences),
		cmocka_unit_test(the_rest_is_what_is_left),
		cmocka_unit_test(ratios_are_found),
		cmocka_unit_test(ratios_are_of_the_same_threads),
		cmocka_unit_test(ratios_are_of_the_same_modes),
		cmocka_unit_test(attributes_say_what_is_counted),
		cmocka_unit_test(a_thread_of_another_process_is_not_counted),
		cmocka_unit_test(each_refusal_has_a_reason),
		cmocka_unit_test(what_was_counted_needs_no_reason),
		cmocka_unit_test(names_show_the_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
