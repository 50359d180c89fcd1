/*
 * limpet report: the totals of a recording.
 */
#include <errno.h>
#include <string.h>

#include "host/cli/common/command.h"
#include "host/cli/common/progress.h"
#include "host/cli/common/selection.h"
#include "host/cli/report/report.h"
#include "host/core/cleanup.h"
#include "host/core/text/nearest.h"

struct report_values {
	bool is_json, tree;
	const char *unit, *view;
	struct shown_values shown;
	struct range_values range;
	uint64_t limit, records_max;

	struct recording_report report;
};

#define FIELD(member) offsetof(struct report_values, member)

static const struct option_desc report_options[] = {
	{ 'u', "unit", "UNIT",
	  "show times in sec, msec, usec or nsec (default: usec for calls, msec for samples)",
	  FIELD(unit), OPTION_TEXT },
	{ 'n', "limit", "N", "show N rows of each table (default: 20; 0: all)", FIELD(limit),
	  OPTION_NUMBER },
	{ 't', "tree", NULL, "also show the call tree, from samples", FIELD(tree) },
	{ 0, "view", "VIEW", "use only these samples: on-cpu, off-cpu, runnable or wall",
	  FIELD(view), OPTION_TEXT },
	FROM_OPTION(FIELD(range)),
	TO_OPTION(FIELD(range)),
	ONLY_OPTION(FIELD(shown)),
	FULL_PATHS_OPTION(FIELD(shown)),
	{ 0, "max-records", "N", "read up to N records (default: what its size can hold)",
	  FIELD(records_max), OPTION_NUMBER },
	{ 'j', "json", NULL, "print one JSON object per line, times in nanoseconds",
	  FIELD(is_json) },
	{ 0 },
};

static const struct report_unit {
	const char *name;
	uint64_t ns;
} units[] = { { "sec", 1000000000 }, { "msec", 1000000 }, { "usec", 1000 }, { "nsec", 1 } };

static int find_unit(const char *name, struct recording_report *ret, struct err *err)
{
	struct nearest nearest = { .wanted = name };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		nearest_offer(&nearest, units[i].name);
		if (strcmp(units[i].name, name))
			continue;
		ret->unit = units[i].name;
		ret->unit_ns = units[i].ns;
		return 0;
	}
	err_usage(err, NULL, "unknown unit '%s'", name);
	return err_fix(err, "-u %s", nearest.best ? nearest.best : "sec, msec, usec or nsec");
}

static int report_add(const struct call *call, void *context)
{
	struct recording_report *report = context;

	summary_add(&report->summary, call);
	if (allocations_add(&report->allocations, call) ||
	    descriptors_add(&report->descriptors, call) || markers_add(&report->markers, call) ||
	    work_add(&report->work, call) || device_time_add(&report->device_time, call) ||
	    device_samples_add(&report->device_samples, call) ||
	    launch_summary_add(&report->launches, call) ||
	    api_errors_add(&report->api_errors, call) || syscalls_add(&report->syscalls, call) ||
	    call_sites_add(&report->sites, call))
		return -ENOMEM;
	return locks_add(&report->locks, call);
}

static int add_up(struct recording_report *report)
{
	report->agents = agents_new(report->model, /* only */ NULL);
	if (!report->agents || summary_init(&report->summary, report->model) ||
	    allocations_init(&report->allocations, report->model) ||
	    descriptors_init(&report->descriptors, report->model) ||
	    syscalls_init(&report->syscalls, report->model) ||
	    device_samples_init(&report->device_samples, report->model) ||
	    model_each_call(report->model, report_add, report) ||
	    allocations_finish(&report->allocations) ||
	    window_summary_make(report->model, &report->windows))
		return -ENOMEM;
	summary_sort(&report->summary);
	descriptors_sort(&report->descriptors);
	locks_sort(&report->locks);
	call_sites_sort(&report->sites);
	markers_sort(&report->markers);
	work_sort(&report->work);
	device_time_sort(&report->device_time);
	device_samples_sort(&report->device_samples);
	launch_summary_sort(&report->launches);
	api_errors_sort(&report->api_errors);
	syscalls_sort(&report->syscalls);
	return 0;
}

static void report_done(void *values)
{
	struct recording_report *report = &((struct report_values *)values)->report;

	summary_done(&report->summary);
	allocations_done(&report->allocations);
	descriptors_done(&report->descriptors);
	locks_done(&report->locks);
	call_sites_done(&report->sites);
	markers_done(&report->markers);
	work_done(&report->work);
	device_time_done(&report->device_time);
	device_samples_done(&report->device_samples);
	launch_summary_done(&report->launches);
	api_errors_done(&report->api_errors);
	syscalls_done(&report->syscalls);
	window_summary_done(&report->windows);
	if (report->model)
		agents_free(report->agents, report->model);
	model_free(report->model);
}

static void report_print(const struct recording_report *report)
{
	print_head(report);
	print_functions(report);
	print_devices(report);
	print_markers(report);
	print_resources(report);
	print_counters(report);
	print_threads(report);
}

static void report_write(const struct recording_report *report)
{
	write_processes(report);
	write_functions(report);
	write_devices(report);
	write_markers(report);
	write_resources(report);
	write_threads(report);
	write_counters(report);
}

static int report_run(const struct command_line *line, struct err *err)
{
	CLEANUP(progress_end) struct progress progress = { 0 };
	struct report_values *values = line->values;
	struct recording_report *report = &values->report;
	const char *path = line->operands[0];
	unsigned kinds, language;
	int r = find_unit(values->unit ? values->unit : "usec", report, err);

	if (!r)
		r = view_find(values->view, /* allows_calls */ false, &kinds, err);
	if (!r)
		r = only_find(&values->shown, &language, err);
	if (r)
		return r;
	report->limit = values->limit;
	progress_begin(&progress, "reading", path);
	r = model_open_up_to(path, values->records_max, &report->model, err);
	if (!r)
		r = range_apply(report->model, path, &values->range, err);
	if (r)
		return r;
	if (!values->unit && !report->model->calls)
		(void)!find_unit("msec", report, err);
	report->model->samples->view = kinds;
	r = view_check(report->model->samples, path, kinds, err);
	if (r)
		return r;
	if (model_name_late(report->model) || add_up(report))
		return err_set(err, -ENOMEM, "report on '%s': no memory", path);
	progress_end(&progress);
	r = only_apply(report->model, path, &values->shown, err);
	if (r)
		return r;
	if (values->is_json)
		report_write(report);
	else
		report_print(report);
	if (values->is_json ? write_samples(report) : print_samples(report, values->tree))
		return err_set(err, -ENOMEM, "report on '%s': no memory", path);
	return model_check_filled(report->model, path, err);
}

static void report_summarize(const void *values, struct json *json)
{
	const struct recording_report *report = &((const struct report_values *)values)->report;

	if (!report->model)
		return;
	write_call_totals(json, report);
	write_sample_totals(json, report->model->samples);
}

const struct command command_report = {
	.name = "report",
	.summary = "summarize a recording",
	.usage = "FILE [-u UNIT] [-n N] [--tree] [--view VIEW] [--from TIME] [--to TIME] "
		 "[--only LANGUAGE] [--full-paths] [--max-records N] [--json]",
	.options = report_options,
	.values_size = sizeof(struct report_values),
	.defaults = &(const struct report_values){ .limit = 20, .range = RANGE_VALUES_ALL },
	.operands = &(const struct operand_rule){ 1, 1, "no recording given",
						  "limpet report FILE.limpet" },
	.run = report_run,
	.summarize = report_summarize,
	.done = report_done,
	.notes =
		"examples:\n"
		"  limpet report app.limpet             hot functions, calls, memory, files, locks, threads\n"
		"  limpet report app.limpet --tree      the call tree\n"
		"  limpet report app.limpet --tree --view off-cpu     where threads waited\n"
		"  limpet report app.limpet --only python --full-paths\n"
		"  limpet report app.limpet -u msec -n 5\n",
};
