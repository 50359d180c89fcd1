/*
 * limpet report: the totals of a recording.
 */
#include <errno.h>
#include <string.h>

#include "host/cli/command.h"
#include "host/cli/progress.h"
#include "host/cli/report.h"
#include "host/cli/report/recording_report.h"
#include "host/cli/report/samples.h"
#include "host/cli/view.h"
#include "host/core/cleanup.h"
#include "host/core/text/nearest.h"

struct report_values {
	bool is_json, tree;
	const char *unit, *view;
	struct shown_values shown;
	struct range_values range;
	uint64_t limit, records_max;
};

#define FIELD(member) offsetof(struct report_values, member)

static const struct option_desc report_options[] = {
	{ 'u', "unit", "UNIT",
	  "show times in sec, msec, usec or nsec (default: usec for calls, msec for samples)",
	  OPTION_TEXT, FIELD(unit) },
	{ 'n', "limit", "N", "show N rows of each table (default: 20; 0: all)", OPTION_NUMBER,
	  FIELD(limit) },
	{ 't', "tree", NULL, "also show the call tree, from samples", OPTION_FLAG, FIELD(tree) },
	{ 0, "view", "VIEW", "use only these samples: on-cpu, off-cpu, runnable or wall",
	  OPTION_TEXT, FIELD(view) },
	FROM_OPTION(FIELD(range)),
	TO_OPTION(FIELD(range)),
	ONLY_OPTION(FIELD(shown)),
	FULL_PATHS_OPTION(FIELD(shown)),
	{ 0, "max-records", "N", "read up to N records (default: what its size can hold)",
	  OPTION_NUMBER, FIELD(records_max) },
	{ 'j', "json", NULL, "print one JSON object per line, times in nanoseconds", OPTION_FLAG,
	  FIELD(is_json) },
	{ 0 },
};

static const struct report_unit {
	const char *name;
	uint64_t ns;
} units[] = { { "sec", 1000000000 }, { "msec", 1000000 }, { "usec", 1000 }, { "nsec", 1 } };

static int find_unit(const char *name, struct report_style *ret, struct err *err)
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
	err_set(err, -EINVAL, "unknown unit '%s'", name);
	err_fix(err, "-u %s", nearest.best ? nearest.best : "sec, msec, usec or nsec");
	return err_exit(err, EXIT_USAGE);
}

static int report_take(const struct call *call, void *context)
{
	struct recording_report *report = context;

	summary_take(&report->summary, call);
	if (allocations_take(&report->allocations, call) ||
	    descriptors_take(&report->descriptors, call) || markers_take(&report->markers, call) ||
	    work_take(&report->work, call) ||
	    device_time_take(&report->device_time, report->model, call) ||
	    device_samples_take(&report->device_samples, call) ||
	    launch_summary_take(&report->launches, report->model, call) ||
	    api_errors_take(&report->api_errors, call) || syscalls_add(&report->syscalls, call))
		return -ENOMEM;
	if (call_sites_take(&report->sites, call))
		return -ENOMEM;
	return locks_take(&report->locks, call);
}

static int add_up(struct recording_report *report)
{
	if (report_agents_init(report) || summary_init(&report->summary, report->model) ||
	    allocations_init(&report->allocations, report->model) ||
	    descriptors_init(&report->descriptors, report->model) ||
	    syscalls_init(&report->syscalls, report->model) ||
	    device_samples_init(&report->device_samples, report->model) ||
	    model_each_call(report->model, report_take, report) ||
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

static void report_done(struct recording_report *report)
{
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
	report_agents_done(report);
	model_free(report->model);
}

static inline void report_done_at_scope_end(struct recording_report *report)
{
	report_done(report);
}

static int report_show(const char *path, const struct report_values *values,
		       struct recording_report *report, struct err *err)
{
	CLEANUP(progress_end) struct progress progress = { 0 };
	struct report_style style = { .limit = values->limit };
	unsigned kinds, language;
	int r = find_unit(values->unit ? values->unit : "usec", &style, err);

	progress_begin(&progress, "reading", path);
	if (r || (r = view_find(values->view, &kinds, err)) ||
	    (r = only_find(&values->shown, &language, err)) ||
	    (r = model_open_up_to(path, values->records_max, &report->model, err)))
		return r;
	if ((r = range_apply(report->model, path, &values->range, err)))
		return r;
	if (!values->unit && !report->model->calls)
		(void)!find_unit("msec", &style, err);
	report->model->samples->view = kinds;
	if ((r = view_check(report->model->samples, path, kinds, err)))
		return r;
	if (model_name_late(report->model) || add_up(report))
		return err_set(err, -ENOMEM, "report on '%s': no memory", path);
	progress_end(&progress);
	if ((r = only_apply(report->model, path, &values->shown, err)))
		return r;
	if (values->is_json)
		report_print_json(report);
	else
		report_print(report, &style);
	if (values->is_json ? report_samples_print_json(report->model)
			    : report_samples_print(report->model, &style, values->tree))
		return err_set(err, -ENOMEM, "report on '%s': no memory", path);
	return model_check_filled(report->model, path, err);
}

static enum exit_code report_finish(const struct recording_report *report, bool is_json,
				    const struct err *err)
{
	struct json json = { .out = stdout };

	if (is_json) {
		report_summary(&json, "report", err);
		if (report->model) {
			report_totals_json(&json, report);
			report_samples_totals(&json, report->model->samples);
		}
		json_object_end(&json);
	}
	return report_end("report", false, err);
}

static enum exit_code report_run(char **argv)
{
	CLEANUP(report_done) struct recording_report report = { 0 };
	struct report_values values = { .limit = 20, .range = RANGE_VALUES_ALL };
	struct err err = { 0 };
	int operands = options_parse(report_options, argv, &values, &err);

	if (operands > 1)
		operands = report_surplus(argv[1], &err);
	if (operands == 0) {
		err_set(&err, -EINVAL, "no recording given");
		err_fix(&err, "limpet report FILE.limpet");
		err_exit(&err, EXIT_USAGE);
	} else if (operands == 1) {
		report_show(argv[0], &values, &report, &err);
	}
	return report_finish(&report, values.is_json, &err);
}

const struct command command_report = {
	.name = "report",
	.summary = "summarize a recording",
	.usage = "FILE [-u UNIT] [-n N] [--tree] [--view VIEW] [--from TIME] [--to TIME] "
		 "[--only LANGUAGE] [--full-paths] [--max-records N] [--json]",
	.options = report_options,
	.run = report_run,
	.notes =
		"examples:\n"
		"  limpet report app.limpet             hot functions, calls, memory, files, locks, threads\n"
		"  limpet report app.limpet --tree      the call tree\n"
		"  limpet report app.limpet --tree --view off-cpu     where threads waited\n"
		"  limpet report app.limpet --only python --full-paths\n"
		"  limpet report app.limpet -u msec -n 5\n",
};
