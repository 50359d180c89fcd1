/*
 * limpet export: a recording as a file that other programs read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/command.h"
#include "host/cli/progress.h"
#include "host/cli/report.h"
#include "host/cli/version.h"
#include "host/cli/view.h"
#include "host/core/cleanup.h"
#include "host/core/text/nearest.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/export/exporter.h"
#include "host/model/calls/call_view.h"
#include "host/model/samples/samples.h"
#include "host/recording/facts.h"
#include "host/ui/answers/share.h"

struct export_values {
	bool is_json;
	const char *format, *output, *view;
	struct shown_values shown;
	struct range_values range;
	uint64_t records_max;
};

#define FIELD(member) offsetof(struct export_values, member)

static const struct option_desc export_options[] = {
	{ 'f', "format", "FORMAT",
	  "write this format, see below (default: by the name of OUT; flamegraph, of calls alone pftrace)",
	  OPTION_TEXT, FIELD(format) },
	{ 'o', "output", "OUT",
	  "write to OUT (of a set of files: their prefix); - is stdout (default: beside FILE)",
	  OPTION_TEXT, FIELD(output) },
	{ 0, "view", "VIEW",
	  "use only these samples: on-cpu, off-cpu, runnable or wall (default: on-cpu); or traced calls in place of samples: alloc (memory allocated), live (memory not freed by the end), lock, io (time)",
	  OPTION_TEXT, FIELD(view) },
	FROM_OPTION(FIELD(range)),
	TO_OPTION(FIELD(range)),
	ONLY_OPTION(FIELD(shown)),
	FULL_PATHS_OPTION(FIELD(shown)),
	{ 0, "max-records", "N", "read up to N records (default: what its size can hold)",
	  OPTION_NUMBER, FIELD(records_max) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

/* All formats that hold one of these. */
static void offer_formats(unsigned holds, struct err *err)
{
	char names[EXPORTER_NAMES_MAX];

	exporter_names(holds, names);
	err_fix(err, "-f %s; or " PAGE_FORMAT ", the page of limpet ui", names);
}

static void unknown_format(const char *name, struct err *err)
{
	struct nearest nearest = { .wanted = name };

	for (const struct exporter *exporter = exporters; exporter->name; exporter++)
		nearest_offer(&nearest, exporter->name);
	nearest_offer(&nearest, PAGE_FORMAT);
	err_set(err, -EINVAL, "unknown format '%s'", name);
	if (nearest.best)
		err_fix(err, "-f %s", nearest.best);
	else
		offer_formats(HOLDS_CALLS | HOLDS_SAMPLES | HOLDS_WINDOWS, err);
	err_exit(err, EXIT_USAGE);
}

static void unclear_format(const char *output, struct err *err)
{
	err_set(err, -EINVAL, "the name '%s' does not determine the format", output);
	offer_formats(HOLDS_CALLS | HOLDS_SAMPLES | HOLDS_WINDOWS, err);
	err_exit(err, EXIT_USAGE);
}

/* NULL: not given. */
static int choose_format(const struct export_values *values, const struct exporter **ret,
			 struct err *err)
{
	*ret = values->format   ? exporter_find(values->format)
	       : values->output ? exporter_for_path(values->output)
				: NULL;
	if (!*ret && values->format)
		unknown_format(values->format, err);
	else if (!*ret && values->output)
		unclear_format(values->output, err);
	return err->code;
}

static const struct exporter *usual_format(const struct model *model)
{
	return exporter_find(model->samples->count ? "flamegraph" : "pftrace");
}

/* "app.limpet" becomes "app.pftrace". */
static char *default_output(const char *recording, const struct exporter *exporter)
{
	static const char own[] = ".limpet";
	size_t length = strlen(recording), end = strlen(own);
	char *name;

	if (length > end && strcmp(recording + length - end, own) == 0)
		length -= end;
	return asprintf(&name, "%.*s%s", (int)length, recording, exporter->extensions[0]) < 0
		       ? NULL
		       : name;
}

/* On stderr: not every format can hold the warning. */
static void export_warn(const struct model *model)
{
	char text[256];
	uint64_t dropped = drops_sum(model->drops);

	model_describe_end(model, text, sizeof(text));
	if (text[0])
		print(stderr, "warning: the recording is incomplete: %s\n", text);
	if (dropped)
		print(stderr, "warning: %" PRIu64 " record%s %s dropped while recording\n", dropped,
		      plural(dropped), was_were(dropped));
}

/* A format of calls for a recording of samples would be an empty file, and the other way round. */
static int check_content(const struct model *model, const struct exporter *exporter,
			 struct err *err)
{
	unsigned content = exporter_content(model);

	if (exporter->holds & content)
		return 0;
	err_set(err, -ENODATA, "%s is a format of %s, and this recording has only %s",
		exporter->name, exporter_content_name(exporter->holds),
		exporter_content_name(content));
	if (exporter->holds == HOLDS_SAMPLES && model_has_domain(model, DOMAIN_ALLOC))
		err_fix(err, "--view alloc, for the memory that was allocated");
	else if (exporter->holds == HOLDS_SAMPLES && model_has_domain(model, DOMAIN_LOCK))
		err_fix(err, "--view lock, for the time in calls of locks");
	else if (exporter->holds == HOLDS_SAMPLES && model_has_domain(model, DOMAIN_IO))
		err_fix(err, "--view io, for the time in calls of I/O");
	else
		offer_formats(content, err);
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

/* The contents of the file: on stderr if stdout is the file. */
static void print_written(const struct model *model, const struct exporter *exporter,
			  const char *output)
{
	bool is_stdout = !strcmp(output, "-");
	FILE *out = is_stdout ? stderr : stdout;
	const struct samples *samples = model->samples;

	print(out, "%s:", is_stdout ? "stdout" : output);
	if (exporter->holds & HOLDS_CALLS)
		print(out, " %" PRIu64 " call%s", model->calls, plural(model->calls));
	if (exporter->holds & HOLDS_SAMPLES && samples->count)
		print(out, " %" PRIu64 " %s%s", samples->count,
		      profile_kinds_are_bytes(samples->view)   ? "allocation"
		      : profile_kinds_are_calls(samples->view) ? "call"
							       : "sample",
		      plural(samples->count));
	if (exporter->holds & HOLDS_WINDOWS && model->windows.count)
		print(out, " %" PRIu64 " window%s of counters", model->windows.count,
		      plural(model->windows.count));
	print(out, " (%s)\n", exporter->name);
}

static void export_tell(const struct export_values *values, const struct model *model,
			const struct exporter *exporter, const char *output)
{
	struct json json = { .out = stdout };

	if (!values->is_json) {
		print_written(model, exporter, output);
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "export");
	json_text(&json, "format", exporter->name);
	json_text(&json, "output", output);
	json_number(&json, "calls", model->calls);
	json_number(&json, "samples", model->samples->count);
	json_number(&json, "windows", model->windows.count);
	json_object_end(&json);
}

static int page_output_missing(struct err *err)
{
	err_set(err, -EINVAL, PAGE_FORMAT " needs the name of a file");
	err_fix(err, "-f " PAGE_FORMAT " -o share.html");
	return err_exit(err, EXIT_USAGE);
}

/* The page with a part of the recording inside. */
static int export_page(const char *recording, const struct export_values *values, struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	uint64_t bytes = 0;
	int r;

	if (!values->output || !strcmp(values->output, "-"))
		return page_output_missing(err);
	r = output_open(&file, values->output, err);
	if (!r)
		r = output_check_stranger(&file.location, file.path, "<!doctype html>*", err);
	if (!r)
		r = share_recording(recording, values->range.from_ns, values->range.to_ns,
				    LIMPET_VERSION, file.out, &bytes, err);
	if (!r && !values->is_json)
		print(stdout, "%s (" PAGE_FORMAT ", %llu KiB)\n", values->output,
		      (unsigned long long)(bytes + 1023) / 1024);
	if (!r)
		r = output_commit(&file, err);
	return r;
}

static int refuse_empty_view(const char *recording, unsigned kinds, struct err *err)
{
	static const struct {
		unsigned kinds;
		const char *what, *fix;
	} views[] = {
		{ KINDS_MEMORY, "allocations", "limpet record --alloc-sample, or --alloc-stacks" },
		{ KIND_BIT(SAMPLE_LOCK), "calls of locks", "limpet record --lock-stacks" },
		{ KIND_BIT(SAMPLE_IO), "calls of I/O", "limpet record --io-stacks" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (views[i].kinds & kinds) {
			err_set(err, -ENODATA, "'%s' has no %s", recording, views[i].what);
			err_fix(err, "%s", views[i].fix);
		}
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

/* --view alloc, live, lock, io: formats of calls have these one by one. */
static int view_calls(struct model *model, const char *recording, unsigned kinds,
		      const struct exporter *exporter, struct err *err)
{
	if (!profile_kinds_are_calls(kinds))
		return 0;
	if (exporter && exporter->holds != HOLDS_SAMPLES) {
		err_set(err, -EINVAL, "--view %s is for formats of samples, and %s is none",
			profile_kinds_name(kinds), exporter->name);
		err_fix(err,
			"-f flamegraph, svg, folded, pprof, speedscope, firefox or perf-script");
		return err_exit(err, EXIT_USAGE);
	}
	if (model_view_calls(model, kinds))
		return err_set(err, -ENOMEM, "export '%s': no memory", recording);
	return model->samples->count ? 0 : refuse_empty_view(recording, kinds, err);
}

static int export_write(const char *recording, const struct export_values *values, struct err *err)
{
	CLEANUP(model_free) struct model *model = NULL;
	CLEANUP(free) char *beside = NULL;
	CLEANUP(progress_end) struct progress progress = { 0 };
	const struct exporter *exporter;
	const char *output = values->output;
	unsigned kinds, language;
	int r = choose_format(values, &exporter, err);

	if (!r)
		r = view_find_any(values->view, &kinds, err);
	if (!r)
		r = only_find(&values->shown, &language, err);
	if (!r)
		progress_begin(&progress, "exporting", recording);
	if (!r)
		r = model_open_up_to(recording, values->records_max, &model, err);
	if (!r)
		r = model_check_filled(model, recording, err);
	if (!r)
		r = range_apply(model, recording, &values->range, err);
	if (!r && model_name_late(model))
		r = err_set(err, -ENOMEM, "export '%s': no memory", recording);
	if (!r)
		r = view_calls(model, recording, kinds, exporter, err);
	if (!r && !exporter)
		exporter = usual_format(model);
	if (!r)
		r = check_content(model, exporter, err);
	if (!r)
		r = view_check(model->samples, recording, kinds, err);
	if (r)
		return r;
	model->samples->view = kinds;
	if (!output) {
		beside = default_output(recording, exporter);
		output = beside;
	}
	if (!output)
		return err_set(err, -ENOMEM, "export '%s': no memory", recording);
	export_warn(model);
	r = only_apply(model, recording, &values->shown, err);
	if (r)
		return r;
	r = export_file(model, exporter, output, err);
	progress_end(&progress);
	if (!r)
		export_tell(values, model, exporter, output);
	return r;
}

static int export_check(int operands, char **argv, const struct export_values *values,
			struct err *err)
{
	if (operands < 0)
		return operands;
	if (operands > 1)
		return report_surplus(argv[1], err);
	if (operands == 1 && !(values->is_json && values->output && !strcmp(values->output, "-")))
		return 0;
	if (operands == 1) {
		err_set(err, -EINVAL, "--json and -o - both want stdout");
	} else {
		err_set(err, -EINVAL, "no recording given");
		err_fix(err, "limpet export FILE.limpet");
	}
	return err_exit(err, EXIT_USAGE);
}

static enum exit_code export_run(char **argv)
{
	struct export_values values = { .range = RANGE_VALUES_ALL };
	struct err err = { 0 };
	int operands = options_parse(export_options, argv, &values, &err);

	if (export_check(operands, argv, &values, &err) == 0) {
		if (values.format && !strcmp(values.format, PAGE_FORMAT))
			export_page(argv[0], &values, &err);
		else
			export_write(argv[0], &values, &err);
	}
	return report_end("export", values.is_json, &err);
}

static void print_format(const struct exporter *exporter, FILE *out)
{
	const char *separator = " (";

	print(out, "  %-12s  %s", exporter->name, exporter->help);
	for (const char *const *end = exporter->extensions; *end && **end; end++) {
		print(out, "%s%s", separator, *end);
		separator = ", ";
	}
	fputs(separator[0] == ',' ? ")\n" : "\n", out);
}

/* Grouped by their contents. */
static void print_formats(FILE *out)
{
	static const struct {
		const char *title;
		unsigned holds;
	} groups[] = { { "formats of samples", HOLDS_SAMPLES },
		       { "formats of calls, samples and counters over time",
			 HOLDS_CALLS | HOLDS_SAMPLES | HOLDS_WINDOWS },
		       { "formats of calls and counters over time", HOLDS_CALLS | HOLDS_WINDOWS },
		       { "formats of calls", HOLDS_CALLS } };

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		print(out, "%s:\n", groups[i].title);
		for (const struct exporter *exporter = exporters; exporter->name; exporter++)
			if (exporter->holds == groups[i].holds)
				print_format(exporter, out);
	}
	print(out, "format of everything:\n  %-12s  the page of limpet ui as one file (-o)\n",
	      PAGE_FORMAT);
}

const struct command command_export = {
	.name = "export",
	.summary = "write a recording as a file for other programs",
	.usage =
		"FILE [-f FORMAT] [-o OUT] [--view VIEW] [--from TIME] [--to TIME] [--only LANGUAGE] "
		"[--full-paths] [--max-records N] [--json]",
	.options = export_options,
	.run = export_run,
	.print_details = print_formats,
	.notes =
		"examples:\n"
		"  limpet export app.limpet              the flame graph, app.html\n"
		"  limpet export app.limpet -o app.pftrace\n"
		"  limpet export app.limpet -f html-page -o share.html   the page of limpet ui\n"
		"  limpet export app.limpet --view alloc -o memory.html  the stacks that allocate\n"
		"  limpet export app.limpet --view lock -o locks.html    the stacks that wait for locks\n"
		"  limpet export app.limpet -f csv -o - | head\n"
		"  limpet export app.limpet -f rocprof-csv -o out/app\n",
};
