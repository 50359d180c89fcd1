/*
 * limpet fleet dump: where all ranks of a job are, merged: which of them wait for which.
 */
#include "host/cli/fleet/dump_view.h"
#include "host/cli/fleet/fleet.h"
#include "host/core/cleanup.h"
#include "host/core/output/output_file.h"
#include "host/core/text/nearest.h"

#include <errno.h>
#include <string.h>

struct dump_values {
	struct fleet_values fleet; /* first */
	uint64_t times, interval_ns;
	bool kernel, all_threads, no_lines;
	const char *sampler, *format, *output;
};

#define FIELD(member) offsetof(struct dump_values, member)

static const struct option_desc dump_options[] = {
	FLEET_OPTIONS(FIELD(fleet)),
	{ 't', "times", "N", "dump N times and show what moved (default: 1)", FIELD(times),
	  OPTION_NUMBER },
	{ 'i', "interval", "TIME", "with --times: wait TIME between dumps (default: 1s)",
	  FIELD(interval_ns), OPTION_DURATION },
	{ 'a', "all-threads", NULL, "show all threads, not only the main one", FIELD(all_threads) },
	{ 0, "no-lines", NULL, "merge ranks by functions only: do not look for lines",
	  FIELD(no_lines) },
	{ 0, "kernel", NULL, "show frames of the kernel", FIELD(kernel) },
	{ 0, "sampler", "NAME", "use only this sampler: bpf or read", FIELD(sampler), OPTION_TEXT },
	{ 'f', "form", "FORM", "write text, json, html or dot (default: text)", FIELD(format),
	  OPTION_TEXT },
	{ 'o', "output", "FILE", "write to FILE (default: stdout)", FIELD(output), OPTION_TEXT },
	{ 0 },
};

static const struct dump_form {
	const char *name, *looks_like;
	void (*write)(const struct dump_view *view, FILE *out);
} forms[] = {
	{ "text", "*: * on *", dump_view_text },
	{ "json", "{\"event\":*", dump_view_json },
	{ "html", "<!doctype html>*", dump_view_html },
	{ "dot", "digraph fleet*", dump_view_dot },
};

static const struct dump_form *form_find(const char *name, struct err *err)
{
	struct nearest nearest = { .wanted = name };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (!strcmp(forms[i].name, name))
			return &forms[i];
		nearest_offer(&nearest, forms[i].name);
	}
	err_usage(err, "--form text, json, html or dot", "unknown form '%s'", name);
	if (nearest.best)
		err_fix(err, "--form %s", nearest.best);
	return NULL;
}

static int view_write(const struct dump_view *view, const struct dump_form *form, const char *path,
		      struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	int r;

	if (!path || !strcmp(path, "-")) {
		form->write(view, stdout);
		return 0;
	}
	r = output_open(&file, path, err);
	if (!r)
		r = output_check_stranger(&file.location, path, form->looks_like, err);
	if (r)
		return r;
	form->write(view, file.out);
	return output_commit(&file, err);
}

static int view_make(struct dump_view *ret, const struct dump_values *values,
		     struct motions *motions, struct err *err)
{
	uint32_t last = ret->dump->rounds ? ret->dump->rounds - 1 : 0;
	int r = 0;

	for (unsigned i = 0; !r && i < CLASS_THREADS; i++)
		r = class_tree_build(&ret->trees[i], ret->dump, last, (enum class_threads)i);
	if (!r && values->times > 1) {
		r = motions_find(motions, ret->dump);
		ret->motions = motions;
		ret->seconds = (double)values->interval_ns * last / 1e9;
	}
	if (r == -E2BIG)
		return err_set(err, r, "the ranks are in too many classes to show");
	return r ? err_set(err, r, "dump: no memory") : 0;
}

/* With --json, states of nodes and ranks come before the classes. */
static int dump_show(const struct dump_values *values, const struct dump_form *form,
		     const struct fleet *fleet, struct fleet_dump *dump, struct err *err)
{
	struct dump_view view = { .fleet = fleet, .dump = dump };
	struct motions motions = { 0 };
	int r = fleet_dump_settle(dump, fleet);

	if (!r && halts_find(&view.halts, dump, fleet))
		r = err_set(err, -ENOMEM, "dump: no memory");
	if (!r)
		r = view_make(&view, values, &motions, err);
	if (!r && values->fleet.is_json)
		fleet_show(fleet, /* is_json */ true);
	if (!r)
		r = view_write(&view, form, values->output, err);
	for (unsigned i = 0; i < CLASS_THREADS; i++)
		class_tree_done(&view.trees[i]);
	halts_done(&view.halts);
	motions_done(&motions);
	return r;
}

static int on_message(void *context, uint32_t node, uint32_t kind, struct cursor *cursor)
{
	return fleet_dump_take(context, node, kind, cursor);
}

static int dump_query(const struct dump_values *values, const struct dump_form *form,
		      struct err *err)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(fleet_dump_done) struct fleet_dump dump = { 0 };
	const struct fleet_job_listener listener = { .message = on_message, .context = &dump };
	const struct node_request request = {
		.action = FLEET_DUMP,
		.dump = { .times = (uint32_t)values->times,
			  .interval_ns = values->interval_ns,
			  .kernel_frames = values->kernel,
			  .all_threads = values->all_threads,
			  .no_lines = values->no_lines,
			  .sampler = values->sampler ? values->sampler : "" },
	};
	int r = fleet_query(&values->fleet, &request, (values->times - 1) * values->interval_ns,
			    &listener, &fleet, err);

	if (!r && fleet.rank_count)
		r = dump_show(values, form, &fleet, &dump, err);
	if (r)
		return r;
	if (!values->fleet.is_json)
		fleet_show(&fleet, /* is_json */ false);
	return fleet_judge_live(&fleet, err);
}

static int dump_run(const struct command_line *line, struct err *err)
{
	const struct dump_values *values = line->values;
	const struct dump_form *form;

	if (!values->times || values->times > DUMP_TIMES_MAX)
		return err_usage(err, NULL, "--times is from 1 to %u", DUMP_TIMES_MAX);
	form = form_find(values->fleet.is_json ? "json" : values->format, err);
	return form ? dump_query(values, form, err) : err->code;
}

const struct command command_fleet_dump = {
	.name = "fleet dump",
	.summary = "show where all ranks of a job are, merged into one tree",
	.usage = FLEET_USAGE
	" [--times N] [--all-threads] [-f text|json|html|dot] [-o FILE] [--json]",
	.options = dump_options,
	.values_size = sizeof(struct dump_values),
	.defaults = &(const struct dump_values){ .fleet = FLEET_VALUES,
						 .times = 1,
						 .interval_ns = 1000000000u,
						 .format = "text" },
	.operands = &operands_none,
	.run = dump_run,
	.notes =
		"Each line is a class of ranks: 7:[0-4,6-7] are the seven ranks that made these calls, at these\n"
		"lines; below it stand their nodes and processes.  No thread is stopped.  With --times it says\n"
		"which ranks wait in one place, spin in one place, or move.\n"
		"\n"
		"examples:\n"
		"  limpet fleet dump --local\n"
		"  limpet fleet dump --hosts 'n[1-4]' --match train.py --times 3\n",
};
