/*
 * Fuzzes recordings.  Everything that is read is walked through to the end.
 */
#include "fuzz.h"
#include "recording_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/export/amd/output/summary.h"
#include "host/export/amd/rocpd/rocpd.h"
#include "host/export/exporter.h"
#include "host/export/profile/diff.h"
#include "host/export/trace/lanes.h"
#include "host/model/calls/allocations.h"
#include "host/model/calls/descriptors.h"
#include "host/model/calls/locks.h"
#include "host/model/calls/markers.h"
#include "host/model/calls/summary.h"
#include "host/model/devices/device_time.h"
#include "host/model/samples/call_tree.h"
#include "host/model/samples/stack_text.h"
#include "host/model/windows/windows.h"

struct walk {
	const struct model *model;
	uint64_t calls, last_begin_ns, open;
	struct summary summary;
	struct allocations allocations;
	struct descriptors descriptors;
	struct locks locks;
	struct markers markers;
	struct work work;
	struct lanes lanes;
};

static int end_call(void *context, uint32_t owner, uint32_t lane, uint64_t end_ns)
{
	struct walk *walk = context;

	(void)lane;
	(void)end_ns;
	must(owner < walk->model->thread_count + walk->model->process_count && walk->open > 0);
	walk->open--;
	return 0;
}

static int visit(const struct call *call, void *context)
{
	struct walk *walk = context;
	double blocks, bytes;
	struct stack_cursor cursor = { .stack = call->stack };
	const struct sample_location *location;
	char text[64];
	uint32_t lane;
	bool is_new;

	walk->calls++;
	must(call->function_number < walk->model->function_count);
	must(strlen(call->function->name) < TRACE_NAME_MAX &&
	     strlen(domain_name(call->function->domain)) > 1);
	must(call->value_count <= RECORD_VALUES_MAX && call->stack_end < STACK_ENDS);
	must(call->stack == STACK_NONE || call->stack < call->model->samples->stack_count);
	must(strlen(call->text) <= RECORD_MAX_BYTES && call->end_ns >= call->begin_ns);
	while ((location = stack_next(call->model->samples, &cursor)))
		location_print(call->model->samples, location, text, sizeof(text));
	summary_add(&walk->summary, call);
	must(!allocations_add(&walk->allocations, call));
	must(!descriptors_add(&walk->descriptors, call));
	must(!locks_add(&walk->locks, call));
	must(!markers_add(&walk->markers, call));
	must(call_name(call)[0] || call->kind == CALL_PLAIN);
	must(!call_estimate(call, &blocks, &bytes) || (blocks >= 1 && bytes >= 1));
	must(!lanes_assign(&walk->lanes, lanes_owner(&walk->lanes, call), call, &lane, &is_new));
	must(!work_add(&walk->work, call));
	walk->open++;
	return 0;
}

static void walk_through(struct model *model)
{
	struct walk walk = { .model = model };
	char end[256];

	must(!summary_init(&walk.summary, model) && !allocations_init(&walk.allocations, model));
	must(!descriptors_init(&walk.descriptors, model));
	must(!lanes_init(&walk.lanes, model, end_call, &walk));
	must(!model_each_call(model, visit, &walk));
	must(walk.calls <= model->calls && !lanes_finish(&walk.lanes) && !walk.open);
	must(!allocations_finish(&walk.allocations));
	summary_sort(&walk.summary);
	descriptors_sort(&walk.descriptors);
	locks_sort(&walk.locks);
	markers_sort(&walk.markers);
	model_describe_end(model, end, sizeof(end));
	summary_done(&walk.summary);
	allocations_done(&walk.allocations);
	descriptors_done(&walk.descriptors);
	locks_done(&walk.locks);
	markers_done(&walk.markers);
	work_sort(&walk.work);
	work_done(&walk.work);
	lanes_done(&walk.lanes);
}

static int visit_sample(const struct sample_event *event, void *context)
{
	const struct model *model = context;
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(model->samples, event->stack, frames);

	must(event->kind < SAMPLE_KINDS && event->end < STACK_ENDS);
	must(event->thread->number < model->thread_count);
	for (size_t i = 0; i < count; i++) {
		const struct sample_frame *frame = &model->samples->frames[frames[i]];

		must(frame->code < model->samples->code_count && frame->location_count > 0);
		must(frame->first_location + frame->location_count <=
		     model->samples->location_count);
	}
	return 0;
}

static void walk_through_samples(struct model *model)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };
	CLEANUP(free) struct thread_profile *threads = NULL;

	must(!model_each_sample(model, visit_sample, model));
	must(!sample_profile_gather(&profile, model,
				    &(struct profile_filter){ .is_by_thread = true }));
	must(profile.sample_count == model->samples->count);
	must(!hot_functions_find(&hot, &profile) && !thread_profiles_find(&threads, model));
	for (unsigned i = 0; i < 2; i++) {
		CLEANUP(call_tree_done) struct call_tree tree = { 0 };

		must(!call_tree_build(&tree, model, &profile,
				      &(struct call_tree_options){ .is_inverted = i }));
		must(tree.metrics[0].total_count == model->samples->count);
	}
}

static int visit_point(const struct model_metric *metric, uint64_t time_ns, double value,
		       void *context)
{
	const struct model *model = context;

	(void)time_ns;
	(void)value;
	must(metric->number < model->windows.metric_count);
	return 0;
}

static void walk_through_windows(struct model *model)
{
	CLEANUP(window_summary_done) struct window_summary summary = { 0 };
	uint64_t counted = 0;

	must(!model_each_point(model, visit_point, model));
	must(!window_summary_make(model, &summary));
	for (size_t i = 0; i < summary.count; i++)
		counted += summary.rows[i].windows + summary.rows[i].missing;
	must(counted == model->windows.count);
}

/* Every format that is one stream, into nothing. */
static void export_streams(struct model *model)
{
	CLEANUP(fclose) FILE *nothing = fopen("/dev/null", "w");

	must(nothing != NULL);
	for (const struct exporter *exporter = exporters; exporter->name; exporter++) {
		int r = exporter->format->write ? exporter->format->write(model, nothing) : 0;

		must(!r || r == -ENODATA); /* the recording has nothing of that kind */
	}
}

/* Beside itself nothing has changed. */
static void compare_samples(struct model *model)
{
	CLEANUP(comparison_done) struct comparison comparison = { 0 };
	CLEANUP(fclose) FILE *nothing = fopen("/dev/null", "w");
	const struct compared_side side = { .path = "", .model = model };
	char warnings[COMPARISON_WARNINGS_MAX][COMPARISON_WARNING_SIZE];

	must(nothing &&
	     !comparison_make(&comparison, (struct compared_side[SIDES]){ side, side }, KINDS_ALL));
	for (size_t i = 0; i < comparison.function_count; i++) {
		const struct compared_part *parts = comparison.functions[i].parts;

		must(parts[SIDE_A].total_ns == parts[SIDE_B].total_ns);
		must(parts[SIDE_A].self_count == parts[SIDE_B].self_count);
	}
	must(comparison_warnings(&comparison, warnings) < COMPARISON_WARNINGS_MAX);
	must(!diff_page_write(&comparison, nothing) && !diff_svg_write(&comparison, nothing));
}

static void export_database(struct model *model)
{
	CLEANUP(amd_view_done) struct amd_view view = { 0 };
	CLEANUP(amd_stats_done) struct amd_stats stats = { 0 };
	CLEANUP(fclose) FILE *nothing = fopen("/dev/null", "w");
	struct amd_summary_options summary = { .is_whole = true, .is_per_domain = true };
	const char *empty;
	struct err err = { 0 };

	must(nothing && !amd_view_init(&view, model, &(struct amd_view_options){ 0 }, &err));
	must(!amd_stats_init(&stats, &view));
	must(!amd_summary_write(&stats, &summary, nothing, &empty, &err));
	must(!rocpd_write(&view, ":memory:", ":memory:", &err));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(model_free) struct model *model = NULL;
	struct err err = { 0 };

	if (model_open_fd(recording_file_make(bytes, size), "fuzz", &model, &err)) {
		must(err.code < 0 && err.what[0]);
	} else {
		walk_through(model);
		walk_through_samples(model);
		walk_through_windows(model);
		compare_samples(model);
		if (size % 4 == 0)
			export_streams(model);
		if (size % 64 == 0)
			export_database(model);
	}
	return 0;
}
