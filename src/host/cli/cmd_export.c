/*
 * limpet export: a recording as a file that other programs read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/common/command.h"
#include "host/cli/common/progress.h"
#include "host/cli/common/selection.h"
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
	  FIELD(format), OPTION_TEXT },
	{ 'o', "output", "OUT",
	  "write to OUT (of a set of files: their prefix); - is stdout (default: beside FILE)",
	  FIELD(output), OPTION_TEXT },
	{ 0, "view", "VIEW",
	  "use only these samples: on-cpu, off-cpu, runnable or wall (default: on-cpu); or traced calls in place of samples: alloc (memory allocated), live (memory not freed by the end), lock, io (time)",
	  FIELD(view), OPTION_TEXT },
	FROM_OPTION(FIELD(range)),
	TO_OPTION(FIELD(range)),
	ONLY_OPTION(FIELD(shown)),
	FULL_PATHS_OPTION(FIELD(shown)),
	{ 0, "max-records", "N", "read up to N records (default: what its size can hold)",
	  FIELD(records_max), OPTION_NUMBER },
	{ 'j', "json", NULL, "print one JSON object per line", FIELD(is_json) },
	{ 0 },
};

/* All formats that hold one of these. */
static int suggest_formats(unsigned holds, struct err *err)
{
	char names[EXPORTER_NAMES_MAX];

	exporter_names(holds, names);
	return err_fix(err, "-f %s; or " PAGE_FORMAT ", the page of limpet ui", names);
}

/* NULL: not given. */
static int choose_format(const struct export_values *values, const struct exporter **ret,
			 struct err *err)
{
	struct nearest nearest = { .wanted = values->format };
	const char *given = values->format ? values->format : values->output;

	*ret = values->format ? exporter_find(given) : given ? exporter_for_path(given) : NULL;
	if (*ret || !given)
		return 0;
	if (!values->format) {
		err_usage(err, NULL, "the name '%s' does not determine the format", given);
		return suggest_formats(HOLDS_CALLS | HOLDS_SAMPLES | HOLDS_WINDOWS, err);
	}
	err_usage(err, NULL, "unknown format '%s'", given);
	for (const struct exporter *exporter = exporters; exporter->name; exporter++)
		nearest_offer(&nearest, exporter->name);
	nearest_offer(&nearest, PAGE_FORMAT);
	return nearest.best ? err_fix(err, "-f %s", nearest.best)
			    : suggest_formats(HOLDS_CALLS | HOLDS_SAMPLES | HOLDS_WINDOWS, err);
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

	model_describe_end(model, text, sizeof(text));
	if (text[0])
		print(stderr, "warning: the recording is incomplete: %s\n", text);
	print_counted(stderr, drops_sum(model->drops),
		      "warning: # record{|s} {was|were} dropped while recording\n");
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
		suggest_formats(content, err);
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
		print(out, " %lu call%s", model->calls, plural(model->calls));
	if (exporter->holds & HOLDS_SAMPLES)
		print_counted(out, samples->count,
			      profile_kinds_are_bytes(samples->view)   ? " # allocation{|s}"
			      : profile_kinds_are_calls(samples->view) ? " # call{|s}"
								       : " # sample{|s}");
	if (exporter->holds & HOLDS_WINDOWS)
		print_counted(out, model->windows.count, " # window{|s} of counters");
	print(out, " (%s)\n", exporter->name);
}

static void write_written(const struct model *model, const struct exporter *exporter,
			  const char *output)
{
	struct json json = json_event(stdout, "export");

	json_text(&json, "format", exporter->name);
	json_text(&json, "output", output);
	json_number(&json, "calls", model->calls);
	json_number(&json, "samples", model->samples->count);
	json_number(&json, "windows", model->windows.count);
	json_object_end(&json);
}

/* The page with a part of the recording inside. */
static int export_page(const char *recording, const struct export_values *values, struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	uint64_t bytes = 0;
	int r;

	if (!values->output || !strcmp(values->output, "-"))
		return err_usage(err, "-f " PAGE_FORMAT " -o share.html",
				 PAGE_FORMAT " needs the name of a file");
	r = output_open(&file, values->output, err);
	if (!r)
		r = output_check_stranger(&file.location, file.path, "<!doctype html>*", err);
	if (!r)
		r = share_recording(recording, values->range.from_ns, values->range.to_ns,
				    LIMPET_VERSION, file.out, &bytes, err);
	if (!r && !values->is_json)
		print(stdout, "%s (" PAGE_FORMAT ", %lu KiB)\n", values->output,
		      (bytes + 1023) / 1024);
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
	if (exporter && exporter->holds != HOLDS_SAMPLES)
		return err_usage(
			err,
			"-f flamegraph, svg, folded, pprof, speedscope, firefox or perf-script",
			"--view %s is for formats of samples, and %s is none",
			profile_kinds_name(kinds), exporter->name);
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
		r = view_find(values->view, /* allows_calls */ true, &kinds, err);
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
		exporter = exporter_find(model->samples->count ? "flamegraph" : "pftrace");
	if (!r)
		r = check_content(model, exporter, err);
	if (!r)
		r = view_check(model->samples, recording, kinds, err);
	if (r)
		return r;
	model->samples->view = kinds;
	if (!output)
		output = beside = default_output(recording, exporter);
	if (!output)
		return err_set(err, -ENOMEM, "export '%s': no memory", recording);
	export_warn(model);
	r = only_apply(model, recording, &values->shown, err);
	if (!r)
		r = export_file(model, exporter, output, err);
	progress_end(&progress);
	if (!r)
		(values->is_json ? write_written : print_written)(model, exporter, output);
	return r;
}

static int export_run(const struct command_line *line, struct err *err)
{
	const struct export_values *values = line->values;

	if (values->is_json && values->output && !strcmp(values->output, "-"))
		return err_usage(err, NULL, "--json and -o - cannot both write to stdout");
	if (values->format && !strcmp(values->format, PAGE_FORMAT))
		return export_page(line->operands[0], values, err);
	return export_write(line->operands[0], values, err);
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
	.values_size = sizeof(struct export_values),
	.defaults = &(const struct export_values){ .range = RANGE_VALUES_ALL },
	.operands = &(const struct operand_rule){ 1, 1, "no recording given",
						  "limpet export FILE.limpet" },
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
