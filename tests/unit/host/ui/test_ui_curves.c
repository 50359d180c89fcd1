/*
 * Curves of a recording: looks at processes are written, read again, and added up along the time
 * axis; looks that contradict themselves are left out.  And when threads ran, by their waits.
 */
#include "unit.h"

#include "host/live/store/bins.h"
#include "host/live/store/curves.h"
#include "host/model/read/read.h"
#include "host/recording/facts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MS       1000000u
#define STEP_NS  (100 * MS)
#define BINS     10u
#define FROM_NS  (100000u * (uint64_t)MS)
#define MEGABYTE 1000000u

static struct model_process process;
static struct model_process *processes[] = { &process, &process };

/* `time_ms` counts from the first bin; `cpu_ms` is used so far. */
struct look {
	uint32_t process;
	int time_ms, cpu_ms;
	unsigned megabytes, threads;
};

static int look_put(struct model *model, const struct look *looks, size_t count)
{
	struct bytes bytes = { 0 };
	struct chunk chunk = { .kind = CHUNK_USAGE };
	int r;

	bytes_u32(&bytes, 0);
	for (size_t i = 0; i < count; i++)
		item_put(&bytes, CHUNK_USAGE,
			 &(struct recorded_usage){
				 .process = looks[i].process,
				 .threads = looks[i].threads,
				 .time_ns = FROM_NS + (uint64_t)(looks[i].time_ms * (int64_t)MS),
				 .cpu_ns = (uint64_t)looks[i].cpu_ms * MS,
				 .rss_bytes = (uint64_t)looks[i].megabytes * MEGABYTE });
	count_set(&bytes, (uint32_t)count);
	chunk.payload = (struct cursor){ bytes.data, bytes.data + bytes.size };
	r = usage_read_chunk(model, &chunk);
	bytes_done(&bytes);
	return r;
}

static void curves_make(const struct look *looks, size_t count, struct curve_point ret[BINS])
{
	struct model model = { .processes = processes, .process_count = 2, .records_max = 100 };
	const struct bins bins = { FROM_NS, STEP_NS, BINS };

	assert_int_equal(look_put(&model, looks, count), 0);
	assert_int_equal(usage_curves_fill(&model, &bins, ret), 0);
	free(model.usage.items);
}

static void is_about(double is, double wanted)
{
	assert_true(fabs(is - wanted) < 0.001);
}

static void processor_time_between_two_looks_is_spread_evenly(void **state)
{
	static const struct look looks[] = { { 0, 0, 1000, 20, 3 },
					     { 0, 250, 1125, 20, 3 },
					     { 0, 500, 1125, 30, 4 } };
	struct curve_point points[BINS];

	(void)state;
	curves_make(looks, ARRAY_SIZE(looks), points);
	is_about(points[0].cpu_percent, 50);
	is_about(points[1].cpu_percent, 50);
	is_about(points[2].cpu_percent, 25);
	is_about(points[3].cpu_percent, 0);
	assert_true(isnan(points[5].cpu_percent));
}

static void memory_is_that_of_the_latest_look_until_the_process_is_seen_no_more(void **state)
{
	static const struct look looks[] = { { 0, 0, 0, 20, 3 },
					     { 0, 250, 0, 30, 3 },
					     { 0, 500, 0, 40, 4 } };
	struct curve_point points[BINS];

	(void)state;
	curves_make(looks, ARRAY_SIZE(looks), points);
	is_about(points[0].rss_bytes, 20 * MEGABYTE);
	is_about(points[3].rss_bytes, 30 * MEGABYTE);
	is_about(points[6].rss_bytes, 40 * MEGABYTE);
	is_about(points[6].threads, 4);
	assert_true(isnan(points[8].rss_bytes));
}

static void processes_are_added_up(void **state)
{
	static const struct look looks[] = { { 0, 0, 0, 20, 1 },
					     { 1, 0, 0, 5, 2 },
					     { 0, 200, 100, 20, 1 },
					     { 1, 200, 200, 5, 2 },
					     { 0, 400, 200, 20, 1 } };
	struct curve_point points[BINS];

	(void)state;
	curves_make(looks, ARRAY_SIZE(looks), points);
	is_about(points[0].cpu_percent, 150);
	is_about(points[0].rss_bytes, 25 * MEGABYTE);
	is_about(points[0].threads, 3);
}

static void a_pause_is_no_time_without_load(void **state)
{
	static const struct look looks[] = { { 0, -40000, 0, 20, 1 },
					     { 0, -39800, 0, 20, 1 },
					     { 0, 800, 9000, 20, 1 },
					     { 0, 1000, 9000, 20, 1 } };
	struct curve_point points[BINS];

	(void)state;
	curves_make(looks, ARRAY_SIZE(looks), points);
	assert_true(isnan(points[4].rss_bytes) && isnan(points[4].cpu_percent));
	is_about(points[9].rss_bytes, 20 * MEGABYTE);
}

static void what_contradicts_itself_is_left_out(void **state)
{
	static const struct look backwards[] = { { 0, 0, 0, 20, 1 },
						 { 0, 300, 30, 20, 1 },
						 { 0, 100, 9000, 900, 1 } };
	static const struct look of_no_process[] = { { 0, 0, 0, 1, 1 }, { 2, 0, 0, 1, 1 } };
	struct model model = { .processes = processes, .process_count = 2, .records_max = 1 };
	struct curve_point points[BINS];

	(void)state;
	curves_make(backwards, ARRAY_SIZE(backwards), points);
	is_about(points[1].cpu_percent, 10);
	is_about(points[1].rss_bytes, 20 * MEGABYTE);
	assert_int_equal(look_put(&model, backwards, 2), -EFBIG);
	model.records_max = 100;
	assert_int_equal(look_put(&model, of_no_process, 2), -EPROTO);
	assert_int_equal(model.usage.count, 0);
	free(model.usage.items);
}

static void a_count_that_the_bytes_do_not_hold_is_refused(void **state)
{
	static const unsigned char bytes[4 + USAGE_BYTES] = { 2 };
	struct cursor cursor = { bytes, bytes + sizeof(bytes) };
	uint32_t count;

	(void)state;
	assert_int_equal(usage_count_read(&cursor, &count), -EPROTO);
}

/* In milliseconds; a lane of 40 bins of a millisecond for each kind. */
struct event {
	unsigned kind, begin, end;
};

static void lanes_fill(const struct event *events, size_t count, double ret[SAMPLE_KINDS][40])
{
	struct recorded_sample items[8];
	struct model model = { .thread_count = 1 };
	const struct bins bins = { 0, MS, 40 };
	const uint32_t of_threads[] = { 0 };
	const struct bins_rows rows = { SAMPLE_KINDS, of_threads, 1 };
	const struct slice slice = {
		.model = &model, .items = items, .count = count, .to_ns = UINT64_MAX, .kinds = 7
	};
	struct bins_sums sums;

	for (size_t i = 0; i < count; i++)
		items[i] =
			(struct recorded_sample){ .time_ns = events[i].end * (uint64_t)MS,
						  .weight_ns = (events[i].end - events[i].begin) *
							       (uint64_t)MS,
						  .kind = (uint8_t)events[i].kind };
	assert_int_equal(bins_sums_init(&sums, SAMPLE_KINDS * bins.count), 0);
	assert_int_equal(running_fill(&sums, &bins, &rows, &slice, 10 * MS), 0);
	for (size_t i = 0; i < SAMPLE_KINDS * bins.count; i++)
		ret[i / bins.count][i % bins.count] = sums.cells[i] / MS;
	bins_sums_done(&sums);
}

static void threads_run_between_waits(void **state)
{
	/* A sample at 8 stands for five milliseconds, of which the thread waited for three. */
	static const struct event events[] = {
		{ SAMPLE_BLOCKED, 1, 6 },    { SAMPLE_RUNNING, 3, 8 },   { SAMPLE_BLOCKED, 9, 12 },
		{ SAMPLE_RUNNABLE, 12, 13 }, { SAMPLE_BLOCKED, 20, 22 }, { SAMPLE_BLOCKED, 35, 36 }
	};
	double lanes[SAMPLE_KINDS][40];

	(void)state;
	lanes_fill(events, ARRAY_SIZE(events), lanes);
	for (unsigned i = 0; i < 40; i++) {
		bool is_running = (i >= 6 && i < 9) || (i >= 13 && i < 20);
		bool is_blocked =
			(i >= 1 && i < 6) || (i >= 9 && i < 12) || i == 20 || i == 21 || i == 35;

		is_about(lanes[SAMPLE_RUNNING][i], is_running);
		is_about(lanes[SAMPLE_BLOCKED][i], is_blocked);
		is_about(lanes[SAMPLE_RUNNABLE][i], i == 12);
	}
}

static void long_gaps_are_running_as_far_as_samples_say(void **state)
{
	static const struct event events[] = { { SAMPLE_BLOCKED, 0, 2 },
					       { SAMPLE_RUNNING, 15, 20 },
					       { SAMPLE_BLOCKED, 24, 30 } };
	double lanes[SAMPLE_KINDS][40];

	(void)state;
	lanes_fill(events, ARRAY_SIZE(events), lanes);
	for (unsigned i = 0; i < 40; i++)
		is_about(lanes[SAMPLE_RUNNING][i], i >= 15 && i < 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processor_time_between_two_looks_is_spread_evenly),
		cmocka_unit_test(
			memory_is_that_of_the_latest_look_until_the_process_is_seen_no_more),
		cmocka_unit_test(processes_are_added_up),
		cmocka_unit_test(a_pause_is_no_time_without_load),
		cmocka_unit_test(what_contradicts_itself_is_left_out),
		cmocka_unit_test(a_count_that_the_bytes_do_not_hold_is_refused),
		cmocka_unit_test(threads_run_between_waits),
		cmocka_unit_test(long_gaps_are_running_as_far_as_samples_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
