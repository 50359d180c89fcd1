/*
 * Windows of counters: written, read as foreign bytes, added up; readings of devices become
 * windows.
 */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/core/clock.h"
#include "host/model/model.h"
#include "host/model/windows/windows.h"
#include "host/recorder/windows/counter_choice.h"
#include "host/recorder/windows/windows.h"

#define MS 1000000u

static struct recording *recording;
static struct model *model;
static struct err err;
static char path[64];
static uint64_t origin_ns; /* of the windows: after the first look at the clock */

static const struct recorded_metric metrics[] = {
	{ 0, 0, METRIC_COUNT, METRIC_NO_DEVICE, "perf", "task-clock", "ns", "", "" },
	{ 0, PROCESS_NONE, METRIC_COUNT, 1, "amd", "SQ_WAVES", "", "gfx942 1", "waves" },
	{ 0, PROCESS_NONE, METRIC_LEVEL, 1, "amd", "BUSY", "%", "gfx942 1", "" },
};

static int setup(void **state)
{
	struct recorded_process process = {
		.pid = 1, .name = "p", .executable = "", .command = ""
	};
	int fd;

	(void)state;
	memset(&err, 0, sizeof(err));
	model = NULL;
	snprintf(path, sizeof(path), "/tmp/test_windows.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || close(fd) || recording_create(path, &recording, &err) ||
	    recording_clock(recording, &err) || recording_process(recording, &process, &err))
		return -1;
	origin_ns = now_ns();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model_free(model);
	return unlink(path);
}

static void metrics_write(void)
{
	struct recorded_metric some[ARRAY_SIZE(metrics)];

	memcpy(some, metrics, sizeof(some));
	assert_int_equal(recording_metrics(recording, some, 1, &err), 0);
	assert_int_equal(recording_metrics(recording, some + 1, 2, &err), 0);
	assert_int_equal(some[2].number, 2);
}

/* From and to in milliseconds. */
static void window_write_at(uint32_t metric, unsigned from, unsigned to, double value,
			    uint32_t flags)
{
	const struct recorded_window window = { metric, flags, origin_ns + (uint64_t)from * MS,
						origin_ns + (uint64_t)to * MS, value };

	assert_int_equal(recording_windows(recording, &window, 1, &err), 0);
}

static void recording_read(void)
{
	const struct recorded_end end = { .reason = RECORDING_COMPLETE };

	assert_int_equal(recording_close(recording, &end, &err), 0);
	assert_int_equal(model_open(path, &model, &err), 0);
}

static void near(double value, double expected)
{
	assert_true(fabs(value - expected) <= 1e-9 * fabs(expected));
}

static void means_are_those_of_the_whole_time(void **state)
{
	struct window_summary summary;

	(void)state;
	metrics_write();
	window_write_at(0, 0, 100, 50 * MS, 0);
	window_write_at(0, 100, 400, 300.0 * MS, WINDOW_ESTIMATED);
	window_write_at(1, 0, 100, 1000, 0);
	window_write_at(1, 100, 200, 0, WINDOW_MISSING);
	window_write_at(2, 0, 100, 10, 0);
	window_write_at(2, 100, 400, 50, 0);
	recording_read();
	assert_int_equal(model->windows.count, 6);
	assert_int_equal(model->damaged, 0);
	assert_int_equal(window_summary_make(model, &summary), 0);
	assert_int_equal(summary.count, 3);
	near(summary.rows[0].total, 350e6);
	near(summary.rows[0].mean, 350. / 400);
	near(summary.rows[0].least, 0.5);
	near(summary.rows[0].most, 1);
	assert_int_equal(summary.rows[0].estimated, 1);
	assert_string_equal(metric_rate_unit(summary.rows[0].metric), "CPUs");
	near(summary.rows[1].mean, 10000);
	assert_int_equal(summary.rows[1].missing, 1);
	near(summary.rows[2].mean, 40);
	near(summary.rows[2].most, 50);
	window_summary_done(&summary);
}

struct seen_points {
	unsigned count;
	double values[8];
};

static int point_note(const struct model_metric *metric, uint64_t time_ns, double value,
		      void *context)
{
	struct seen_points *seen = context;

	(void)time_ns;
	assert_int_equal(metric->number, 1);
	seen->values[seen->count++] = value;
	return 0;
}

static void counts_fall_to_0_where_nothing_follows(void **state)
{
	struct seen_points seen = { 0 };

	(void)state;
	metrics_write();
	window_write_at(1, 0, 1000, 5, 0);
	window_write_at(1, 1000, 2000, 7, 0);
	window_write_at(1, 3000, 4000, 9, 0);
	recording_read();
	assert_int_equal(model_each_point(model, point_note, &seen), 0);
	assert_int_equal(seen.count, 5);
	near(seen.values[1], 7);
	near(seen.values[2], 0);
	near(seen.values[3], 9);
	near(seen.values[4], 0);
}

static void a_part_has_the_windows_whose_middle_lies_in_it(void **state)
{
	(void)state;
	metrics_write();
	for (unsigned i = 0; i < 10; i++)
		window_write_at(1, i * 100, i * 100 + 100, i, 0);
	recording_read();
	assert_int_equal(model_narrow(model, 240 * MS, 500 * MS), 0);
	assert_int_equal(model->windows.count, 3);
}

static void windows_of_nothing_and_no_numbers_are_left_out(void **state)
{
	(void)state;
	metrics_write();
	window_write_at(1, 0, 100, 1, 0);
	window_write_at(3, 0, 100, 1, 0);
	window_write_at(1, 0, 100, (double)NAN, 0);
	window_write_at(1, 100, 0, 1, 0); /* ends before it begins */
	recording_read();
	assert_int_equal(model->windows.count, 1);
	assert_int_equal(model->damaged, 3);
}

static void metrics_of_no_process_are_left_out(void **state)
{
	struct recorded_metric metric = metrics[0];

	(void)state;
	metric.process = 7;
	assert_int_equal(recording_metrics(recording, &metric, 1, &err), 0);
	recording_read();
	assert_int_equal(model->windows.metric_count, 0);
	assert_int_equal(model->damaged, 1);
}

/* Two events, of which one is told as it is and a quotient is made of both. */
static const struct recorded_counter facts[] = {
	{ true, 0, 0, "A", "SQ", "", "", "" },
	{ true, 0, 0, "B", "SQ", "", "", "" },
	{ false, 0, 1, "A", "SQ", "", "", "A" },
	{ false, 0, 2, "SHARE", "", "", "", "100*reduce(A,sum)/reduce(B,sum)" },
};

static int reading_take(struct device_windows *windows, uint64_t begin, uint64_t at, uint64_t a,
			uint64_t b)
{
	const struct record_count counts[] = { { 0, a },
					       { 1, a },
					       { 1ull << COUNT_EVENT_SHIFT, b } };
	const struct device_reading reading = { begin, at, 1, counts, ARRAY_SIZE(counts) };

	return device_windows_add(windows, &reading, &err);
}

static int value_note(const struct window *window, void *context)
{
	struct seen_points *seen = context;

	assert_true(window->end_ns > window->begin_ns);
	seen->values[seen->count++] = window->value;
	return 0;
}

static void windows_are_what_came_between_two_readings(void **state)
{
	static struct counter_collection devices;
	struct window_options options = { .interval_ns = MS, .devices = &devices };
	struct device_windows *windows;
	struct seen_points seen = { 0 };
	struct clock_point now;

	(void)state;
	memcpy(devices.facts, facts, sizeof(facts));
	devices.fact_count = ARRAY_SIZE(facts);
	clock_now(&now);
	assert_int_equal(device_windows_new(&windows, recording, &options, &err), 0);
	assert_int_equal(reading_take(windows, now.ticks, now.ticks + 1000000, 10, 40), 0);
	assert_int_equal(reading_take(windows, now.ticks, now.ticks + 2000000, 15, 100), 0);
	/* Somebody else has begun anew: nothing is known of the time between. */
	assert_int_equal(reading_take(windows, now.ticks, now.ticks + 3000000, 3, 20), 0);
	assert_int_equal(reading_take(windows, now.ticks, now.ticks + 4000000, 4, 24), 0);
	/* A time that does not go on. */
	assert_int_equal(reading_take(windows, now.ticks, now.ticks + 4000000, 5, 28), 0);
	assert_int_equal(device_windows_flush(windows, &err), 0);
	assert_int_equal(device_windows_count(windows), 6);
	device_windows_free(windows);
	recording_read();
	assert_int_equal(model_each_window(model, value_note, &seen), 0);
	assert_int_equal(seen.count, 6);
	near(seen.values[0], 20);
	near(seen.values[1], 50);
	near(seen.values[2], 10);
	near(seen.values[3], 100. * 10 / 60);
	near(seen.values[4], 2);
	assert_int_equal(model->windows.metrics[0].form, METRIC_COUNT);
	assert_int_equal(model->windows.metrics[1].form, METRIC_LEVEL);
}

static void names_are_told_apart_by_who_counts_them(void **state)
{
	static const char *const lists[] = { "task-clock,{cs,faults}", "cpu-clock:u" };
	static struct counter_choice choice;

	(void)state;
	assert_int_equal(counter_choice_make(&choice, lists, 2, 0, &err), 0);
	assert_int_equal(choice.events.count, 4);
	assert_int_equal(choice.events.items[1].group, choice.events.items[2].group);
	assert_null(choice.options.devices);
	assert_int_equal(choice.options.interval_ns, COUNTER_INTERVAL_NS);
	counter_choice_done(&choice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(means_are_those_of_the_whole_time, setup, teardown),
		cmocka_unit_test_setup_teardown(counts_fall_to_0_where_nothing_follows, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_part_has_the_windows_whose_middle_lies_in_it,
						setup, teardown),
		cmocka_unit_test_setup_teardown(windows_of_nothing_and_no_numbers_are_left_out,
						setup, teardown),
		cmocka_unit_test_setup_teardown(metrics_of_no_process_are_left_out, setup,
						teardown),
		cmocka_unit_test_setup_teardown(windows_are_what_came_between_two_readings, setup,
						teardown),
		cmocka_unit_test(names_are_told_apart_by_who_counts_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
