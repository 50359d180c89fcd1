/*
 * limpet diff: the changes from one recording to another.
 */
#include <errno.h>
#include <string.h>

#include "host/cli/common/command.h"
#include "host/cli/common/progress.h"
#include "host/cli/common/selection.h"
#include "host/cli/diff/tables.h"
#include "host/core/cleanup.h"
#include "host/core/output/output_file.h"
#include "host/core/text/print.h"
#include "host/export/exporter.h"
#include "host/export/profile/diff.h"

typedef int picture_writer(const struct comparison *comparison, FILE *out);

struct diff_values {
	bool is_json, wants_threads;
	const char *by, *view, *output;
	uint64_t limit, records_max;
	struct shown_values shown;

	unsigned kinds;        /* of the view; 0: the usual ones */
	picture_writer *write; /* the flame graph; NULL: none */
	struct compared_side sides[SIDES];
	struct comparison comparison;
	bool is_compared;
};

#define FIELD(member) offsetof(struct diff_values, member)

static const struct option_desc diff_options[] = {
	{ 'o', "output", "OUT", "also write a red and blue flame graph: OUT.html or OUT.svg",
	  FIELD(output), OPTION_TEXT },
	{ 0, "by", "WHAT", "show and sort by the change of self or total (default: self)",
	  FIELD(by), OPTION_TEXT },
	{ 0, "view", "VIEW",
	  "use only these samples: on-cpu, off-cpu, runnable or wall (default: on-cpu)",
	  FIELD(view), OPTION_TEXT },
	ONLY_OPTION(FIELD(shown)),
	{ 0, "threads", NULL, "also show threads, by their names", FIELD(wants_threads) },
	{ 'n', "limit", "N", "show N rows of each table (default: 20; 0: all)", FIELD(limit),
	  OPTION_NUMBER },
	{ 0, "max-records", "N", "read up to N records of each (default: what its size can hold)",
	  FIELD(records_max), OPTION_NUMBER },
	{ 'j', "json", NULL, "print one JSON object per line", FIELD(is_json) },
	{ 0 },
};

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

static int diff_draw(const struct diff_values *values, struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	struct json json;
	int r = output_open(&file, values->output, err);

	if (!r)
		r = output_check_stranger(&file.location, values->output,
					  exporter_for_path(values->output)->format->looks_like,
					  err);
	if (r)
		return r;
	r = values->write(&values->comparison, file.out);
	r = r ? output_explain(r, values->output, err) : output_commit(&file, err);
	if (r)
		return r;
	if (!values->is_json) {
		print(stdout, "\n%s: a flame graph of both\n", values->output);
		return 0;
	}
	json = json_event(stdout, "flame_graph");
	json_text(&json, "output", values->output);
	json_object_end(&json);
	return 0;
}

static int diff_compare(struct diff_values *self, struct err *err)
{
	unsigned kinds = self->kinds ? self->kinds
				     : comparison_kinds(self->sides[SIDE_A].model,
							self->sides[SIDE_B].model);
	const struct diff_style style = { .limit = self->limit,
					  .is_by_total = !strcmp(self->by, "total"),
					  .wants_threads = self->wants_threads,
					  .is_json = self->is_json };
	char warnings[COMPARISON_WARNINGS_MAX][COMPARISON_WARNING_SIZE];
	size_t count;
	int r = 0;

	for (unsigned i = 0; !r && i < SIDES; i++)
		r = view_check(self->sides[i].model->samples, self->sides[i].path, kinds, err);
	if (r)
		return r;
	if (comparison_make(&self->comparison, self->sides, kinds))
		return err_set(err, -ENOMEM, "compare: no memory");
	self->is_compared = true;
	count = comparison_warnings(&self->comparison, warnings);
	for (size_t i = 0; i < count; i++)
		print(stderr, "warning: %s\n", warnings[i]);
	return diff_print(&self->comparison, &style) ? err_set(err, -ENOMEM, "compare: no memory")
						     : 0;
}

static int diff_run(const struct command_line *line, struct err *err)
{
	const struct operand_rule rule = { SIDES, SIDES,
					   line->count ? "no second recording given"
						       : "no recordings given",
					   "limpet diff BEFORE.limpet AFTER.limpet" };
	struct diff_values *self = line->values;
	int r = command_check_count(line, &rule, err);

	if (r)
		return r;
	if (strcmp(self->by, "self") && strcmp(self->by, "total"))
		return err_usage(err, "--by self or --by total", "--by cannot be '%s'", self->by);
	if (self->output && !(self->write = writer_for(self->output)))
		return err_usage(err, "-o OUT.html or -o OUT.svg", "-o cannot be '%s'",
				 self->output);
	r = view_find(self->view, /* allows_calls */ false, &self->kinds, err);
	for (unsigned i = 0; !r && i < SIDES; i++) {
		self->sides[i].path = line->operands[i];
		r = open_side(&self->sides[i], i, self, err);
	}
	if (!r)
		r = diff_compare(self, err);
	return r || !self->write ? r : diff_draw(self, err);
}

static void diff_summarize(const void *values, struct json *json)
{
	const struct diff_values *self = values;

	if (self->is_compared)
		diff_totals_json(json, &self->comparison);
}

static void diff_done(void *values)
{
	struct diff_values *self = values;

	comparison_done(&self->comparison);
	for (unsigned i = 0; i < SIDES; i++)
		model_free(self->sides[i].model);
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare the samples of two recordings",
	.usage =
		"A B [-o OUT.html] [--by self|total] [--view VIEW] [--only LANGUAGE] [--threads] [-n N] [--max-records N] [--json]",
	.options = diff_options,
	.values_size = sizeof(struct diff_values),
	.defaults = &(const struct diff_values){ .by = "self", .limit = 20 },
	.run = diff_run,
	.summarize = diff_summarize,
	.done = diff_done,
	.notes =
		"A is before, B is after. Shares are compared, so recordings may differ in length.\n"
		"\nexamples:\n"
		"  limpet diff before.limpet after.limpet\n"
		"  limpet diff before.limpet after.limpet --by total --threads\n"
		"  limpet diff before.limpet after.limpet -o changed.html\n",
};
