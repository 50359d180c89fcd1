/*
 * `limpet report` about samples: how good they are, hot functions, call trees.
 */
#include "host/cli/report/report.h"

#include "host/cli/common/stack_ends.h"
#include "host/core/cleanup.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/samples/call_tree.h"
#include "host/sampling/sampler.h"
#include "host/unwind/engine.h"

#include <errno.h>

#define TREE_LEAST      50u /* smaller branches are not shown, in hundredths of a percent */
#define TREE_NAME_MAX   200u
#define TREE_INDENT_MAX 120u

static const struct view {
	unsigned kinds;
	const char *title, *name;
} views[] = {
	{ KINDS_ON_CPU, "hot functions: on CPU", "on-cpu" },
	{ KINDS_OFF_CPU, "where threads waited", "off-cpu" },
	{ KIND_BIT(SAMPLE_RUNNABLE), "where threads were runnable: ready, and waiting for a CPU",
	  "runnable" },
};

static bool is_wanted(const struct samples *samples, const struct view *view)
{
	return !samples->view || samples->view & view->kinds;
}

static struct stack_ends ends_of(const struct samples *samples)
{
	return (struct stack_ends){ samples->ends, samples->count, samples->sampler,
				    samples_are_system_wide(samples) };
}

static void print_quality(const struct recording_report *report)
{
	const struct samples *samples = report->model->samples;
	const struct stack_ends ends = ends_of(samples);

	print(stdout,
	      "%lu sample%s in %.3f %s at %u Hz by %" PRINAME
	      "; %lu lost\n%.2f %% of the stacks complete\n",
	      samples->count, plural(samples->count),
	      time_in_unit(report, samples->last_ns - samples->first_ns), report->unit, samples->hz,
	      samples->sampler, samples->lost, (double)samples_complete(samples) / 100);
	print_prefixed(stdout, "note: ", samples->reasons);
	stack_ends_print("INCOMPLETE", &ends, UINT64_MAX);
	print_counted(stdout, samples->guessed,
		      "GUESSED: # stack{|s} {has|have} frames that are guessed\n");
	print(stdout, "+- is the 95 %% confidence interval of SELF\n");
}

static void print_function(const struct recording_report *report, const struct profile *profile,
			   const struct hot_function *row)
{
	const struct sample_code *code = &report->model->samples->codes[row->function->code];

	print(stdout, "%8.2f %6.2f %8.2f %12.3f %9lu  %" PRINAME,
	      share_percent(row->self_ns, profile->weight_ns),
	      (double)share_error(row, profile) / 100,
	      share_percent(row->total_ns, profile->weight_ns), time_in_unit(report, row->self_ns),
	      row->self_count, row->function->name);
	if (row->function->is_named && !engine_by_path(row->function->name))
		print(stdout, " (%" PRINAME ")", code->name);
	print(stdout, "\n");
}

/* The share of generated code without names, and how it gets names. */
static void print_unnamed(const struct samples *samples, const struct profile *profile,
			  const struct hot_function *row)
{
	const struct engine *engine = engine_by_path(row->function->name);

	if (samples->codes[row->function->code].kind != CODE_JIT || !engine)
		return;
	print(stdout, "%.2f %% in code without names, %s",
	      share_percent(row->self_ns, profile->weight_ns), engine->path);
	if (engine->naming)
		print(stdout, "; for names: %s", engine->naming);
	print(stdout, "\n");
}

static int print_hot_functions(const struct recording_report *report, const struct view *view)
{
	struct model *model = report->model;
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };

	if (sample_profile_gather(&profile, model,
				  &(struct profile_filter){ .kinds = view->kinds }) ||
	    hot_functions_find(&hot, &profile))
		return -ENOMEM;
	if (!hot.count)
		return 0;
	print(stdout, "\n%s\n", view->title);
	print(stdout, "%8s %6s %8s %7s %s %9s  %s\n", "SELF %", "+-", "TOTAL %", "SELF",
	      report->unit, "SAMPLES", "FUNCTION");
	for (size_t i = 0; i < rows_shown(report, hot.count); i++)
		print_function(report, &profile, &hot.rows[i]);
	print_rest(report, 8, hot.count);
	for (size_t i = 0; i < hot.count; i++)
		print_unnamed(model->samples, &profile, &hot.rows[i]);
	return 0;
}

/* Depth first, without recursion: stacks may be deep. */
static void print_tree_nodes(const struct call_tree *tree)
{
	uint64_t all = tree->metrics[0].total_ns;
	char name[TREE_NAME_MAX];
	uint32_t at = 0;

	while (at != TREE_NONE) {
		const struct tree_node *node = &tree->nodes[at];
		const struct tree_metrics *metrics = &tree->metrics[at];
		bool is_shown = share_of(metrics->total_ns, all) >= TREE_LEAST;

		if (is_shown) {
			call_tree_name(tree, node, name, sizeof(name));
			print(stdout, "%8.2f %8.2f  %*s%" PRINAME "\n",
			      share_percent(metrics->total_ns, all),
			      share_percent(metrics->self_ns, all),
			      (int)MIN(node->depth, TREE_INDENT_MAX), "", name);
		}
		at = is_shown && node->first != TREE_NONE ? node->first : call_tree_after(tree, at);
	}
}

static int print_tree(struct model *model)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(call_tree_done) struct call_tree tree = { 0 };
	unsigned kinds = profile_kinds(model->samples);
	bool is_by_process = samples_are_system_wide(model->samples);

	if (sample_profile_gather(
		    &profile, model,
		    &(struct profile_filter){ .kinds = kinds, .is_by_thread = true }) ||
	    call_tree_build(&tree, model, &profile,
			    &(struct call_tree_options){ .is_by_thread = !is_by_process,
							 .is_by_process = is_by_process }))
		return -ENOMEM;
	print(stdout, "\ncall tree: %s (branches under %.1f %% are left out)\n",
	      profile_kinds_name(kinds), (double)TREE_LEAST / 100);
	print(stdout, "%8s %8s  %s\n", "TOTAL %", "SELF %", "FUNCTION");
	print_tree_nodes(&tree);
	return 0;
}

int print_samples(const struct recording_report *report, bool wants_tree)
{
	int r = 0;

	if (!report->model->samples->count)
		return 0;
	print_quality(report);
	for (size_t i = 0; !r && i < ARRAY_SIZE(views); i++)
		if (is_wanted(report->model->samples, &views[i]))
			r = print_hot_functions(report, &views[i]);
	if (!r)
		r = show_sampled_threads(report, /* is_json */ false);
	return !r && wants_tree ? print_tree(report->model) : r;
}

static void write_function(const struct samples *samples, const struct profile *profile,
			   const struct view *view, const struct hot_function *row)
{
	struct json json = json_event(stdout, "sampled_function");

	json_text(&json, "view", view->name);
	json_text(&json, "name", row->function->name);
	json_text(&json, "module", samples->codes[row->function->code].name);
	json_bool(&json, "named", row->function->is_named);
	json_number(&json, "self_samples", row->self_count);
	json_number(&json, "total_samples", row->total_count);
	json_number(&json, "self_ns", row->self_ns);
	json_number(&json, "total_ns", row->total_ns);
	json_fixed(&json, "self_percent", share_of(row->self_ns, profile->weight_ns), 2);
	json_fixed(&json, "self_error", share_error(row, profile), 2);
	json_fixed(&json, "total_percent", share_of(row->total_ns, profile->weight_ns), 2);
	json_object_end(&json);
}

static int write_hot_functions(struct model *model, const struct view *view)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };

	if (sample_profile_gather(&profile, model,
				  &(struct profile_filter){ .kinds = view->kinds }) ||
	    hot_functions_find(&hot, &profile))
		return -ENOMEM;
	for (size_t i = 0; i < hot.count; i++)
		write_function(model->samples, &profile, view, &hot.rows[i]);
	return 0;
}

int write_samples(const struct recording_report *report)
{
	struct model *model = report->model;
	int r = 0;

	if (!model->samples->count)
		return 0;
	for (size_t i = 0; !r && i < ARRAY_SIZE(views); i++)
		if (is_wanted(model->samples, &views[i]))
			r = write_hot_functions(model, &views[i]);
	return r ? r : show_sampled_threads(report, /* is_json */ true);
}

void write_sample_totals(struct json *json, const struct samples *samples)
{
	const struct stack_ends ends = ends_of(samples);

	if (!samples->hz && !samples->count)
		return;
	json_text(json, "sampler", samples->sampler);
	json_text(json, "no_better_sampler", samples->reasons);
	json_number(json, "hz", samples->hz);
	json_bool(json, "all_processes", samples_are_system_wide(samples));
	json_number(json, "samples", samples->count);
	json_number(json, "samples_lost", samples->lost);
	json_fixed(json, "complete_percent", samples_complete(samples), 2);
	stack_ends_write(json, &ends);
}
