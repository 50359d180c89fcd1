/*
 * What a program selects: from the return of a resume to the call of a pause.
 */
#include "unit.h"

#include "host/export/amd/view/regions.h"

static struct model model;
static struct model_process process;
static struct trace_function resume = { .domain = DOMAIN_MARKER, .name = "roctxProfilerResume" };
static struct trace_function pauses = { .domain = DOMAIN_MARKER, .name = "roctxProfilerPause" };
static struct trace_function mark = { .domain = DOMAIN_MARKER, .name = "roctxMarkA" };
static struct trace_function other = { .domain = DOMAIN_HIP_RUNTIME, .name = "hipMalloc" };

static struct call call_of(const struct trace_function *function, uint64_t begin_ns,
			   uint64_t end_ns)
{
	return (struct call){
		.process = &process, .function = function, .begin_ns = begin_ns, .end_ns = end_ns
	};
}

static void take(struct regions *regions, const struct trace_function *function, uint64_t begin_ns)
{
	struct call call = call_of(function, begin_ns, begin_ns + 10);

	assert_int_equal(regions_add(regions, &call), 0);
}

static bool wants(const struct regions *regions, uint64_t begin_ns)
{
	struct call call = call_of(&other, begin_ns, begin_ns + 1);

	return regions_want(regions, &call);
}

static void make(struct regions *regions, struct region_options options)
{
	model = (struct model){ .process_count = 1 };
	assert_int_equal(regions_init(regions, &model, &options), 0);
}

static void all_is_wanted_where_nobody_selects(void **state)
{
	struct regions regions;

	(void)state;
	make(&regions, (struct region_options){ 0 });
	take(&regions, &pauses, 100);
	assert_true(wants(&regions, 50) && wants(&regions, 150));
	regions_done(&regions);
}

static void from_the_return_to_the_call(void **state)
{
	struct regions regions;
	struct call pausing = call_of(&pauses, 200, 210);

	(void)state;
	make(&regions, (struct region_options){ .is_selected = true });
	assert_false(wants(&regions, 50));
	take(&regions, &resume, 100);
	take(&regions, &resume, 120);
	take(&regions, &pauses, 200);
	assert_false(wants(&regions, 109));
	assert_true(wants(&regions, 110) && wants(&regions, 199));
	assert_false(wants(&regions, 200) || wants(&regions, 300));
	assert_false(regions_want(&regions, &pausing));
	take(&regions, &resume, 400);
	assert_true(wants(&regions, 410));
	regions_done(&regions);
}

static void counted_each_resume_needs_a_pause(void **state)
{
	struct regions regions;

	(void)state;
	make(&regions, (struct region_options){ .is_selected = true, .is_counted = true });
	take(&regions, &pauses, 10);
	take(&regions, &resume, 100);
	take(&regions, &resume, 120);
	take(&regions, &pauses, 200);
	assert_true(wants(&regions, 250));
	take(&regions, &pauses, 300);
	assert_false(wants(&regions, 350));
	regions_done(&regions);
}

/* A resume that takes long is told before a pause of another thread, and takes effect after it. */
static void changes_count_in_the_order_of_their_times(void **state)
{
	struct regions regions;
	struct call slow = call_of(&resume, 100, 300);

	(void)state;
	make(&regions, (struct region_options){ .is_selected = true });
	assert_int_equal(regions_add(&regions, &slow), 0);
	take(&regions, &pauses, 200);
	assert_false(wants(&regions, 250));
	assert_true(wants(&regions, 300));
	regions_done(&regions);
}

/* Where nothing is resumed, it takes nothing away from the resume that is told before it. */
static void a_pause_in_vain_counts_for_nothing(void **state)
{
	struct regions regions;
	struct call slow = call_of(&resume, 100, 300);

	(void)state;
	make(&regions, (struct region_options){ .is_selected = true, .is_counted = true });
	assert_int_equal(regions_add(&regions, &slow), 0);
	take(&regions, &pauses, 200);
	assert_false(wants(&regions, 250));
	assert_true(wants(&regions, 300));
	take(&regions, &pauses, 400);
	assert_false(wants(&regions, 400));
	regions_done(&regions);
}

static void markers_are_hidden_on_request(void **state)
{
	struct regions regions;
	struct call marking = call_of(&mark, 150, 160);

	(void)state;
	make(&regions, (struct region_options){ .is_selected = true });
	take(&regions, &resume, 100);
	assert_true(regions_want(&regions, &marking));
	regions.options.hides_markers = true;
	assert_false(regions_want(&regions, &marking));
	regions_done(&regions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_wanted_where_nobody_selects),
		cmocka_unit_test(from_the_return_to_the_call),
		cmocka_unit_test(counted_each_resume_needs_a_pause),
		cmocka_unit_test(changes_count_in_the_order_of_their_times),
		cmocka_unit_test(a_pause_in_vain_counts_for_nothing),
		cmocka_unit_test(markers_are_hidden_on_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
