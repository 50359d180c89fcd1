/*
 * `limpet report` about samples: hot functions, threads, call trees.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/printable.h"
#include "host/cli/report/samples.h"
#include "host/cli/stack_ends.h"
#include "host/core/cleanup.h"
#include "host/core/text/json.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/model/samples/call_tree.h"
#include "host/model/statistics.h"
#include "host/sampling/sampler.h"
#include "host/unwind/engine.h"

/* Branches with less than this are not shown, in hundredths of a percent. */
#define NOTE_MAX        2048u
#define TREE_LEAST      50u
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

static double share_percent(uint64_t hundredths)
{
	return (double)hundredths / 100;
}

static struct stack_ends ends_of(const struct samples *samples)
{
	return (struct stack_ends){ samples->ends, samples->count, samples->sampler,
				    samples_are_system_wide(samples) };
}

static void print_incomplete(const struct samples *samples)
{
	const struct stack_ends ends = ends_of(samples);

	stack_ends_print("INCOMPLETE", &ends, UINT64_MAX);
	if (samples->guessed)
		print(stdout, "GUESSED: %" PRIu64 " stack%s %s frames that are guessed\n",
		      samples->guessed, plural(samples->guessed), has_have(samples->guessed));
}

static void print_head(const struct samples *samples, const struct report_style *style)
{
	char line[NAME_MAX_SHOWN];

	print(stdout,
	      "%" PRIu64 " sample%s in %.3f %s at %u Hz by %s; %" PRIu64
	      " lost\n%.2f %% of the stacks complete\n",
	      samples->count, plural(samples->count),
	      time_in_unit(samples->last_ns - samples->first_ns, style), style->unit, samples->hz,
	      printable(samples->sampler, line), samples->lost,
	      share_percent(samples_complete(samples)));
	for (const char *at = samples->reasons; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		char text[NOTE_MAX];

		text_copy_printable((struct text){ at, at + strcspn(at, "\n") }, text,
				    sizeof(text));
		print(stdout, "note: %s\n", text);
	}
	print_incomplete(samples);
	print(stdout, "+- is the 95 %% confidence interval of SELF\n");
}

static void print_function(const struct samples *samples, const struct profile *profile,
			   const struct hot_function *row, const struct report_style *style)
{
	char name[NAME_MAX_SHOWN], module[NAME_MAX_SHOWN];

	print(stdout, "%8.2f %6.2f %8.2f %12.3f %9" PRIu64 "  %s",
	      share_percent(share_of(row->self_ns, profile->weight_ns)),
	      share_percent(share_error(row, profile)),
	      share_percent(share_of(row->total_ns, profile->weight_ns)),
	      time_in_unit(row->self_ns, style), row->self_count,
	      printable(row->function->name, name));
	if (row->function->is_named && !engine_by_path(row->function->name))
		print(stdout, " (%s)", printable(samples->codes[row->function->code].name, module));
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
	      share_percent(share_of(row->self_ns, profile->weight_ns)), engine->path);
	if (engine->naming)
		print(stdout, "; for names: %s", engine->naming);
	print(stdout, "\n");
}

static int print_functions(struct model *model, const struct view *view,
			   const struct report_style *style)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };
	size_t shown;

	if (sample_profile_gather(&profile, model,
				  &(struct profile_filter){ .kinds = view->kinds }) ||
	    hot_functions_find(&hot, &profile))
		return -ENOMEM;
	if (!hot.count)
		return 0;
	shown = style->limit ? MIN(hot.count, style->limit) : hot.count;
	print(stdout, "\n%s\n", view->title);
	print(stdout, "%8s %6s %8s %7s %s %9s  %s\n", "SELF %", "+-", "TOTAL %", "SELF",
	      style->unit, "SAMPLES", "FUNCTION");
	for (size_t i = 0; i < shown; i++)
		print_function(model->samples, &profile, &hot.rows[i], style);
	if (shown < hot.count)
		print(stdout, "%8s and %zu more (-n 0 shows all)\n", "", hot.count - shown);
	for (size_t i = 0; i < hot.count; i++)
		print_unnamed(model->samples, &profile, &hot.rows[i]);
	return 0;
}

static bool has_samples(const struct thread_profile *row)
{
	return row->counts[SAMPLE_RUNNING] || row->counts[SAMPLE_BLOCKED] ||
	       row->counts[SAMPLE_RUNNABLE];
}

bool report_has_waits(const struct samples *samples)
{
	return samples->flags & SAMPLING_OFF_CPU || samples->kinds[SAMPLE_BLOCKED] ||
	       samples->kinds[SAMPLE_RUNNABLE];
}

static bool has_gil(const struct model *model)
{
	for (uint32_t i = 0; i < model->thread_count; i++)
		if (model->threads[i]->gil_looks)
			return true;
	return false;
}

/* Shares of the polls of the thread in which it held the interpreter's lock, or waited for it. */
static void print_gil(const struct model_thread *thread)
{
	if (thread->gil_looks)
		print(stdout, " %6.1f %8.1f",
		      share_percent(share_of(thread->gil_held, thread->gil_looks)),
		      share_percent(share_of(thread->gil_waited, thread->gil_looks)));
	else
		print(stdout, " %6s %8s", "-", "-");
}

/* Most running time first, then most waiting time. */
static int by_time(const void *left, const void *right)
{
	const struct thread_profile *a = left, *b = right;

	for (unsigned i = 0; i < SAMPLE_KINDS; i++)
		if (a->weights_ns[i] != b->weights_ns[i])
			return a->weights_ns[i] > b->weights_ns[i] ? -1 : 1;
	return a->thread->number < b->thread->number ? -1 : 1;
}

static int print_threads(struct model *model, const struct report_style *style)
{
	uint64_t shown = 0, left_out = 0;
	CLEANUP(free) struct thread_profile *rows = NULL;
	bool is_off_cpu = report_has_waits(model->samples), is_python = has_gil(model);
	char name[NAME_MAX_SHOWN];

	if (thread_profiles_find(&rows, model))
		return -ENOMEM;
	print(stdout, "\nthreads: times in %s%s\n", style->unit,
	      is_off_cpu ? "" : " (record --off-cpu also shows how long they waited)");
	print(stdout, "%7s %9s", "SAMPLES", "ON CPU");
	if (is_off_cpu)
		print(stdout, " %9s %9s %9s", "WAITED", "FOR DISK", "RUNNABLE");
	if (is_python)
		print(stdout, " %6s %8s", "GIL %", "FOR GIL");
	print(stdout, " %7s %7s  %s\n", "INCOMPL", "TID",
	      model->process_count > 1 ? "PROCESS: NAME" : "NAME");
	if (model->thread_count)
		qsort(rows, model->thread_count, sizeof(*rows), by_time);
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread_profile *row = &rows[i];

		if (!has_samples(row))
			continue;
		if (style->limit && shown == style->limit) {
			left_out++;
			continue;
		}
		shown++;
		print(stdout, "%7" PRIu64 " %9.1f", row->thread->samples,
		      time_in_unit(row->weights_ns[SAMPLE_RUNNING], style));
		if (is_off_cpu)
			print(stdout, " %9.1f %9.1f %9.1f",
			      time_in_unit(row->weights_ns[SAMPLE_BLOCKED], style),
			      time_in_unit(row->disk_ns, style),
			      time_in_unit(row->weights_ns[SAMPLE_RUNNABLE], style));
		if (is_python)
			print_gil(row->thread);
		print(stdout, " %7" PRIu64 " %7d  ", row->incomplete, row->thread->tid);
		if (model->process_count > 1)
			print(stdout, "%s %d: ", printable(row->thread->process->name, name),
			      row->thread->process->pid);
		print(stdout, "%s\n", printable(row->thread->name, name));
	}
	if (left_out)
		print(stdout, "%8s and %" PRIu64 " more (-n 0 shows all)\n", "", left_out);
	return 0;
}

static void print_node(const struct call_tree *tree, const struct tree_node *node)
{
	char name[TREE_NAME_MAX], shown[NAME_MAX_SHOWN];
	const struct tree_metrics *metrics = &tree->metrics[call_tree_number(tree, node)];
	uint64_t all = tree->metrics[0].total_ns;

	call_tree_name(tree, node, name, sizeof(name));
	print(stdout, "%8.2f %8.2f  %*s%s\n", share_percent(share_of(metrics->total_ns, all)),
	      share_percent(share_of(metrics->self_ns, all)),
	      (int)MIN(node->depth, TREE_INDENT_MAX), "", printable(name, shown));
}

/* Depth first, without recursion: stacks may be deep. */
static void print_tree_nodes(const struct call_tree *tree)
{
	uint64_t all = tree->metrics[0].total_ns;
	uint32_t at = 0;

	while (at != TREE_NONE) {
		const struct tree_node *node = &tree->nodes[at];
		bool is_shown = share_of(tree->metrics[at].total_ns, all) >= TREE_LEAST;

		if (is_shown)
			print_node(tree, node);
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
	      profile_kinds_name(kinds), share_percent(TREE_LEAST));
	print(stdout, "%8s %8s  %s\n", "TOTAL %", "SELF %", "FUNCTION");
	print_tree_nodes(&tree);
	return 0;
}

int report_samples_print(struct model *model, const struct report_style *style, bool wants_tree)
{
	int r = 0;

	if (!model->samples->count)
		return 0;
	print_head(model->samples, style);
	for (size_t i = 0; !r && i < ARRAY_SIZE(views); i++)
		if (is_wanted(model->samples, &views[i]))
			r = print_functions(model, &views[i], style);
	if (!r)
		r = report_processes_print(model, style);
	if (!r)
		r = print_threads(model, style);
	if (!r)
		r = report_states_print(model, style);
	return !r && wants_tree ? print_tree(model) : r;
}

static void write_function(struct json *json, const struct samples *samples,
			   const struct profile *profile, const struct view *view,
			   const struct hot_function *row)
{
	json_object(json, NULL);
	json_text(json, "event", "sampled_function");
	json_text(json, "view", view->name);
	json_text(json, "name", row->function->name);
	json_text(json, "module", samples->codes[row->function->code].name);
	json_bool(json, "named", row->function->is_named);
	json_number(json, "self_samples", row->self_count);
	json_number(json, "total_samples", row->total_count);
	json_number(json, "self_ns", row->self_ns);
	json_number(json, "total_ns", row->total_ns);
	json_fixed(json, "self_percent", share_of(row->self_ns, profile->weight_ns), 2);
	json_fixed(json, "self_error", share_error(row, profile), 2);
	json_fixed(json, "total_percent", share_of(row->total_ns, profile->weight_ns), 2);
	json_object_end(json);
}

static int write_functions(struct json *json, struct model *model, const struct view *view)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };

	if (sample_profile_gather(&profile, model,
				  &(struct profile_filter){ .kinds = view->kinds }) ||
	    hot_functions_find(&hot, &profile))
		return -ENOMEM;
	for (size_t i = 0; i < hot.count; i++)
		write_function(json, model->samples, &profile, view, &hot.rows[i]);
	return 0;
}

static int write_threads(struct json *json, struct model *model)
{
	CLEANUP(free) struct thread_profile *rows = NULL;

	if (thread_profiles_find(&rows, model))
		return -ENOMEM;
	for (uint32_t i = 0; i < model->thread_count; i++) {
		if (!has_samples(&rows[i]))
			continue;
		json_object(json, NULL);
		json_text(json, "event", "sampled_thread");
		json_signed(json, "pid", rows[i].thread->process->pid);
		json_text(json, "process", rows[i].thread->process->name);
		json_signed(json, "tid", rows[i].thread->tid);
		json_text(json, "name", rows[i].thread->name);
		json_number(json, "samples", rows[i].thread->samples);
		json_number(json, "on_cpu_ns", rows[i].weights_ns[SAMPLE_RUNNING]);
		json_number(json, "waited_ns", rows[i].weights_ns[SAMPLE_BLOCKED]);
		json_number(json, "disk_ns", rows[i].disk_ns);
		json_number(json, "runnable_ns", rows[i].weights_ns[SAMPLE_RUNNABLE]);
		json_number(json, "incomplete", rows[i].incomplete);
		if (rows[i].thread->gil_looks) {
			json_number(json, "gil_looks", rows[i].thread->gil_looks);
			json_number(json, "gil_held", rows[i].thread->gil_held);
			json_number(json, "gil_waited", rows[i].thread->gil_waited);
		}
		json_object_end(json);
	}
	return 0;
}

int report_samples_print_json(struct model *model)
{
	struct json json = { .out = stdout };
	int r = 0;

	if (!model->samples->count)
		return 0;
	for (size_t i = 0; !r && i < ARRAY_SIZE(views); i++)
		if (is_wanted(model->samples, &views[i]))
			r = write_functions(&json, model, &views[i]);
	if (!r)
		r = report_processes_print_json(model, &json);
	if (!r)
		r = write_threads(&json, model);
	return r ? r : report_states_print_json(model, &json);
}

void report_samples_totals(struct json *json, const struct samples *samples)
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
