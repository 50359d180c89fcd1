/*
 * limpet diff: the changes from one recording to another.
 */
#include <errno.h>
#include <string.h>

#include "host/cli/command.h"
#include "host/cli/diff/diff_report.h"
#include "host/cli/progress.h"
#include "host/cli/report.h"
#include "host/cli/view.h"
#include "host/core/cleanup.h"
#include "host/core/output/output_file.h"
#include "host/core/text/print.h"
#include "host/export/exporter.h"
#include "host/export/profile/diff.h"

struct diff_values {
	bool is_json, wants_threads;
	const char *by, *view, *output;
	uint64_t limit, records_max;
	struct shown_values shown;
};

#define FIELD(member) offsetof(struct diff_values, member)

static const struct option_desc diff_options[] = {
	{ 'o', "output", "OUT", "also write a red and blue flame graph: OUT.html or OUT.svg",
	  OPTION_TEXT, FIELD(output) },
	{ 0, "by", "WHAT", "show and sort by the change of self or total (default: self)",
	  OPTION_TEXT, FIELD(by) },
	{ 0, "view", "VIEW",
	  "use only these samples: on-cpu, off-cpu, runnable or wall (default: on-cpu)",
	  OPTION_TEXT, FIELD(view) },
	ONLY_OPTION(FIELD(shown)),
	{ 0, "threads", NULL, "also show threads, by their names", OPTION_FLAG,
	  FIELD(wants_threads) },
	{ 'n', "limit", "N", "show N rows of each table (default: 20; 0: all)", OPTION_NUMBER,
	  FIELD(limit) },
	{ 0, "max-records", "N", "read up to N records of each (default: what its size can hold)",
	  OPTION_NUMBER, FIELD(records_max) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

typedef int picture_writer(const struct comparison *comparison, FILE *out);

struct diff {
	struct compared_side sides[SIDES];
	struct comparison comparison;
	bool is_compared;
	unsigned kinds;        /* 0: the usual ones */
	picture_writer *write; /* the flame graph; NULL: none */
};

static void diff_done_at_scope_end(struct diff *diff)
{
	comparison_done(&diff->comparison);
	for (unsigned i = 0; i < SIDES; i++)
		model_free(diff->sides[i].model);
}

static int diff_refuse(struct err *err, const char *option, const char *value, const char *fix)
{
	err_set(err, -EINVAL, "%s cannot be '%s'", option, value);
	err_fix(err, "%s", fix);
	return err_exit(err, EXIT_USAGE);
}

static picture_writer *writer_for(const char *path)
{
	static const struct {
		const char *format;
		picture_writer *write;
	} writers[] = { { "flamegraph", diff_page_write }, { "svg", diff_svg_write } };
	const struct exporter *exporter = exporter_for_path(path);

	for (size_t i = 0; exporter && i < ARRAY_SIZE(writers); i++)
		if (strcmp(writers[i].format, exporter->name) == 0)
			return writers[i].write;
	return NULL;
}

/* Before any file is read. */
static int check_values(struct diff *self, const struct diff_values *values, struct err *err)
{
	if (strcmp(values->by, "self") && strcmp(values->by, "total"))
		return diff_refuse(err, "--by", values->by, "--by self or --by total");
	if (values->output && !(self->write = writer_for(values->output)))
		return diff_refuse(err, "-o", values->output, "-o OUT.html or -o OUT.svg");
	return view_find(values->view, &self->kinds, err);
}

static int check_operands(int operands, char **argv, struct err *err)
{
	if (operands < 0)
		return operands;
	if (operands > SIDES)
		return report_surplus(argv[SIDES], err);
	if (operands == SIDES)
		return 0;
	err_set(err, -EINVAL, operands ? "no second recording given" : "no recordings given");
	err_fix(err, "limpet diff BEFORE.limpet AFTER.limpet");
	return err_exit(err, EXIT_USAGE);
}

static int open_side(struct compared_side *side, enum side number, const struct diff_values *values,
		     struct err *err)
{
	CLEANUP(progress_end) struct progress progress = { 0 };
	char end[256];
	int r;

	progress_begin(&progress, "reading", side->path);
	r = model_open_up_to(side->path, values->records_max, &side->model, err);
	if (!r)
		r = model_check_filled(side->model, side->path, err);
	if (r)
		return r;
	if (!side->model->samples->count) {
		err_set(err, -ENODATA, "'%s' has calls and no samples: there is nothing to compare",
			side->path);
		err_fix(err, "limpet record -F 99 ...");
		return err_exit(err, EXIT_NOTHING_CAPTURED);
	}
	if (model_name_late(side->model))
		return err_set(err, -ENOMEM, "read '%s': no memory", side->path);
	model_describe_end(side->model, end, sizeof(end));
	if (end[0])
		print(stderr, "warning: %s is incomplete: %s\n", side_name(number), end);
	return only_apply(side->model, side->path, &values->shown, err);
}

static int diff_compare(struct diff *self, struct err *err)
{
	unsigned kinds = self->kinds ? self->kinds
				     : comparison_kinds(self->sides[SIDE_A].model,
							self->sides[SIDE_B].model);

	for (unsigned i = 0; i < SIDES; i++) {
		int r = view_check(self->sides[i].model->samples, self->sides[i].path, kinds, err);

		if (r)
			return r;
	}
	if (comparison_make(&self->comparison, self->sides, kinds))
		return err_set(err, -ENOMEM, "compare: no memory");
	self->is_compared = true;
	return 0;
}

static void diff_warn(const struct comparison *comparison)
{
	char warnings[COMPARISON_WARNINGS_MAX][COMPARISON_WARNING_SIZE];
	size_t count = comparison_warnings(comparison, warnings);

	for (size_t i = 0; i < count; i++)
		print(stderr, "warning: %s\n", warnings[i]);
}

static int diff_draw(const struct diff *self, const struct diff_values *values, struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	struct json json = { .out = stdout };
	int r = output_open(&file, values->output, err);

	if (!r)
		r = output_check_stranger(&file.location, values->output,
					  exporter_for_path(values->output)->format->looks_like,
					  err);
	if (r)
		return r;
	r = self->write(&self->comparison, file.out);
	r = r ? output_explain(r, values->output, err) : output_commit(&file, err);
	if (r)
		return r;
	if (!values->is_json) {
		print(stdout, "\n%s: a flame graph of both\n", values->output);
		return 0;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "flame_graph");
	json_text(&json, "output", values->output);
	json_object_end(&json);
	return 0;
}

static int diff_make(struct diff *self, char **paths, const struct diff_values *values,
		     struct err *err)
{
	const struct diff_style style = { .limit = values->limit,
					  .is_by_total = !strcmp(values->by, "total"),
					  .wants_threads = values->wants_threads };
	int r = check_values(self, values, err);

	for (unsigned i = 0; !r && i < SIDES; i++) {
		self->sides[i].path = paths[i];
		r = open_side(&self->sides[i], i, values, err);
	}
	if (!r)
		r = diff_compare(self, err);
	if (r)
		return r;
	diff_warn(&self->comparison);
	if (values->is_json ? diff_print_json(&self->comparison, &style)
			    : diff_print(&self->comparison, &style))
		return err_set(err, -ENOMEM, "compare: no memory");
	return self->write ? diff_draw(self, values, err) : 0;
}

static enum exit_code diff_finish(const struct diff *self, bool is_json, const struct err *err)
{
	struct json json = { .out = stdout };

	if (is_json) {
		report_summary(&json, "diff", err);
		if (self->is_compared)
			diff_totals_json(&json, &self->comparison);
		json_object_end(&json);
	}
	return report_end("diff", false, err);
}

static enum exit_code diff_run(char **argv)
{
	CLEANUP(diff_done) struct diff self = { 0 };
	struct diff_values values = { .by = "self", .limit = 20 };
	struct err err = { 0 };
	int operands = options_parse(diff_options, argv, &values, &err);

	if (check_operands(operands, argv, &err) == 0)
		diff_make(&self, argv, &values, &err);
	return diff_finish(&self, values.is_json, &err);
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare the samples of two recordings",
	.usage =
		"A B [-o OUT.html] [--by self|total] [--view VIEW] [--only LANGUAGE] [--threads] [-n N] [--max-records N] [--json]",
	.options = diff_options,
	.run = diff_run,
	.notes =
		"A is before, B is after. Shares are compared, so recordings may differ in length.\n"
		"\nexamples:\n"
		"  limpet diff before.limpet after.limpet\n"
		"  limpet diff before.limpet after.limpet --by total --threads\n"
		"  limpet diff before.limpet after.limpet -o changed.html\n",
};
