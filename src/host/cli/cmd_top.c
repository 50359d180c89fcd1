/*
 * limpet top: the activity of a process, or with -a of all, live in the terminal or once as text.
 */
#include <unistd.h>

#include "host/cli/common/operand.h"
#include "host/cli/common/sample_options.h"
#include "host/cli/common/selection.h"
#include "host/core/cleanup.h"
#include "host/core/self/ending.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/statistics.h"
#include "host/recorder/windows/counter_choice.h"
#include "host/top/render/show.h"
#include "host/top/view.h"

#define BATCH_NS          2000000000u
#define BATCH_ROWS        20u
#define COUNTERS_SHOWN_NS 1000000000u

/* The hottest path ends below this share, in hundredths of a percent. */
#define PATH_LEAST 100u

struct top_values {
	struct sample_words samples;
	uint64_t duration_ns, rows;
	bool is_batch, no_color, ascii;
	const char *pid, *output;
	struct shown_values shown;
	struct option_list counters;
	uint64_t counter_interval_ns;
};

#define FIELD(name) offsetof(struct top_values, name)

static const struct option_desc top_option_table[] = {
	OPERAND_OPTION(FIELD(pid)),
	{ 'a', "all", NULL, "show every process of the machine, and what comes later",
	  FIELD(samples.is_system_wide) },
	{ 'F', "frequency", "HZ", "take HZ samples a second, 1 to 5000 (default: 99)",
	  FIELD(samples.hz), OPTION_NUMBER },
	{ 0, "off-cpu", NULL, "also sample waiting threads; v shows them", FIELD(samples.off_cpu) },
	{ 'C', "children", NULL, "show its descendants too, also those started later",
	  FIELD(samples.children) },
	{ 0, "sampler", "NAME", "use only this sampler: bpf, copy, read or state",
	  FIELD(samples.sampler), OPTION_TEXT },
	ONLY_OPTION(FIELD(shown)),
	FULL_PATHS_OPTION(FIELD(shown)),
	{ 0, "counters", "NAMES", "show counters too: task-clock,page-faults, or SQ_WAVES of a GPU",
	  FIELD(counters), OPTION_LIST },
	{ 0, "counter-interval", "TIME", "length of their windows (default: 1s)",
	  FIELD(counter_interval_ns), OPTION_DURATION },
	{ 'd', "duration", "TIME", "stop after TIME (--batch: 2s when not given)",
	  FIELD(duration_ns), OPTION_SPAN },
	{ 'o', "output", "FILE", "write to FILE when f is pressed (default: limpet-PID.limpet)",
	  FIELD(output), OPTION_TEXT },
	{ 'b', "batch", NULL, "print the tables once, as text; with -o also the recording",
	  FIELD(is_batch) },
	{ 'n', "limit", "N", "show N rows of each table of --batch (default: 20; 0: all)",
	  FIELD(rows), OPTION_NUMBER },
	{ 0, "no-color", NULL, "use no colours; NO_COLOR in the environment does the same",
	  FIELD(no_color) },
	{ 0, "ascii", NULL, "use only ASCII characters", FIELD(ascii) },
	{ 0 },
};

static void print_head(const struct picture *picture)
{
	const char *kinds = profile_kinds_name(picture->kinds);

	if (!picture->pid)
		print(stdout, "every process, %zu seen", picture->others);
	else
		print(stdout, "process %d (%" PRINAME ")", picture->pid, picture->process);
	if (picture->pid)
		print_counted(stdout, picture->others, " and # descendant{|s}");
	if (picture->pid && picture->source.has_ended)
		fputs(", which has ended", stdout);
	print(stdout, ": sampler %s (%s), %u Hz, %s\n", picture->source.sampler,
	      picture->source.summary, picture->hz, kinds ? kinds : "all");
	print(stdout, "%lu sample%s, %.2f %% complete, %lu lost\n", picture->seen,
	      plural(picture->seen), share_percent(picture->complete, picture->seen),
	      picture->source.lost);
	if (picture->source.throttled > 1)
		print_counted(
			stdout, picture->source.throttled,
			"note: for a time only one sample in # was taken, for all of them: samples cost "
			"limpet no more than a tenth of a CPU\n");
	print_prefixed(stdout, "note: ", picture->source.reasons);
}

static void print_counters(const struct picture *picture)
{
	if (picture->counter_count)
		print(stdout, "\n%14s %-6s %s\n", "LAST WINDOW", "UNIT", "COUNTER");
	for (size_t i = 0; i < picture->counter_count; i++) {
		const struct picture_counter *counter = &picture->counters[i];

		if (counter->has_value)
			print(stdout, "%14.3f %-6s ", counter->value, counter->unit);
		else
			print(stdout, "%14s %-6s ", "<not counted>", "");
		print(stdout, "%" PRINAME "\n", counter->name);
	}
}

static void print_more(size_t shown, size_t count)
{
	if (shown < count)
		print(stdout, "%8s and %zu more (-n)\n", "", count - shown);
}

static void print_threads(const struct picture *picture, size_t limit)
{
	const struct view view = { 0 };
	CLEANUP(free) const struct picture_thread **rows = view_threads(&view, picture);
	size_t shown = rows ? MIN(picture->thread_count, limit) : 0;
	char percent[16];

	print(stdout, "\n%8s  %-9s %6s %9s  %s\n", "TID", "STATE", "CPU %", "SAMPLES", "THREAD");
	for (size_t i = 0; i < shown; i++) {
		const struct picture_thread *thread = rows[i];

		snprintf(percent, sizeof(percent), thread->percent < 0 ? "-" : "%.1f",
			 thread->percent);
		print(stdout, "%8d  %-9s %6s %9lu  %" PRINAME "\n", thread->tid,
		      thread->state ? thread_state_name(thread->state) : "ended", percent,
		      thread->samples, thread->name);
	}
	print_more(shown, picture->thread_count);
}

static void print_functions(const struct picture *picture, size_t limit)
{
	size_t shown = MIN(picture->function_count, limit);

	print(stdout, "\n%8s %8s %9s  %s\n", "SELF %", "TOTAL %", "SAMPLES", "FUNCTION");
	for (size_t i = 0; i < shown; i++) {
		const struct picture_function *row = &picture->functions[i];

		print(stdout, "%8.2f %8.2f %9lu  %" PRINAME,
		      share_percent(row->self_ns, picture->weight_ns),
		      share_percent(row->total_ns, picture->weight_ns), row->self_count, row->name);
		if (row->is_named)
			print(stdout, " (%" PRINAME ")", row->module);
		fputc('\n', stdout);
	}
	print_more(shown, picture->function_count);
}

static void print_path(const struct picture *picture)
{
	const struct call_tree *tree = &picture->tree;
	uint64_t all = tree->count ? tree->metrics[0].total_ns : 0;
	uint32_t at = all ? tree->nodes[0].first : TREE_NONE;
	char name[512];

	print(stdout, "\n%8s %8s  %s\n", "TOTAL %", "SELF %", "HOTTEST PATH");
	while (at != TREE_NONE && share_of(tree->metrics[at].total_ns, all) >= PATH_LEAST) {
		call_tree_name(tree, &tree->nodes[at], name, sizeof(name));
		print(stdout, "%8.2f %8.2f  %" PRINAME "\n",
		      share_percent(tree->metrics[at].total_ns, all),
		      share_percent(tree->metrics[at].self_ns, all), name);
		at = tree->nodes[at].first;
	}
}

static int top_judge(const struct picture *picture, struct err *err)
{
	struct sampling_options options = { .sampler = { .pid = picture->pid,
							 .off_cpu = picture->has_off_cpu,
							 .is_system_wide = !picture->pid } };
	struct sampling_totals totals = { .counts = { .samples = picture->seen,
						      .lost = picture->source.lost } };

	totals.counts.ends[STACK_COMPLETE] = picture->complete;
	return samples_judge(&totals, &options, picture->source.has_ended, err);
}

/* A batch includes everything sampled, in all selected kinds of samples. */
static int print_once(struct top *top, const struct top_values *values, struct err *err)
{
	struct picture_wish wish = { .kinds = values->samples.off_cpu ? KINDS_ALL : KINDS_ON_CPU,
				     .until_ns = UINT64_MAX };
	size_t rows = values->rows ? values->rows : SIZE_MAX;
	struct picture *picture;
	char text[512];
	int r = top_snapshot(top, &wish, &picture, err);

	if (r)
		return r;
	print_head(picture);
	print_counters(picture);
	print_threads(picture, rows);
	print_functions(picture, rows);
	print_path(picture);
	r = top_judge(picture, err);
	if (!r && picture->source.error.code) {
		*err = picture->source.error;
		r = err->code;
	}
	if (!r && values->output) {
		r = top_freeze(top, picture, values->output, text, sizeof(text), err);
		if (!r)
			print(stdout, "\n%s\n", text);
	}
	picture_free(picture);
	return r;
}

static int run_batch(struct top *top, const struct top_values *values, struct err *err)
{
	CLEANUP(close) int signals = ending_prepare(err);

	if (signals < 0)
		return signals;
	(void)ending_wait(signals, top_pidfd(top),
			  values->duration_ns == UINT64_MAX ? BATCH_NS : values->duration_ns);
	top_stop(top);
	return print_once(top, values, err);
}

static bool has_terminal(void)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return true;
	print(stderr, "note: %s is not a terminal: the tables are printed once, as with --batch\n",
	      isatty(STDOUT_FILENO) ? "stdin" : "stdout");
	return false;
}

/* NULL if none are wanted. */
static int read_counters(const struct top_values *values, struct counter_choice *room,
			 struct counter_choice **ret, struct err *err)
{
	uint64_t interval_ns = values->counter_interval_ns;
	int r;

	*ret = NULL;
	if (!values->counters.count)
		return 0;
	r = counter_choice_make(room, values->counters.items, values->counters.count,
				interval_ns ? interval_ns : COUNTERS_SHOWN_NS, err);
	if (r)
		return r;
	*ret = room;
	if (room->note[0])
		print(stderr, "note: %s\n", room->note);
	return counter_choice_check_alone(room, !values->samples.children, err);
}

static int top_run_values(pid_t pid, const struct top_values *values, struct err *err)
{
	CLEANUP(counter_choice_done) struct counter_choice choice = { 0 };
	CLEANUP(top_close) struct top *top = NULL;
	struct top_options options = { .version = LIMPET_VERSION };
	const struct show_options screen = {
		.terminal = { .no_color = values->no_color, .is_ascii = values->ascii },
		.duration_ns = values->duration_ns,
		.output = values->output,
	};
	int r = samples_options(&values->samples, &options.sampling, err);

	if (!r)
		r = only_find(&values->shown, &options.language, err);
	if (!r)
		r = read_counters(values, &choice, &options.counters, err);
	if (r)
		return r;
	options.full_paths = values->shown.full_paths;
	options.sampling.sampler.pid = pid;
	options.sampling.sampler.needs_stacks = true;
	r = top_open(&top, &options, err);
	if (r)
		return r;
	return values->is_batch || !has_terminal() ? run_batch(top, values, err)
						   : top_show(top, &screen, err);
}

static int top_run(const struct command_line *line, struct err *err)
{
	const struct top_values *values = line->values;
	const struct all_conflict conflicts[] = {
		{ values->pid, "-p", "-a shows every process", "one of both" },
		{ values->counters.count, "--counters",
		  "counters are opened for processes that are named", "-p PID --counters" },
	};
	pid_t pid = 0; /* every process */
	int r;

	if (values->samples.is_system_wide) {
		r = command_check_count(line, &operands_none, err);
		if (!r)
			r = samples_check_all(&values->samples, conflicts, ARRAY_SIZE(conflicts),
					      err);
	} else {
		r = operand_process(line, values->pid, &pid, err);
	}
	return r ? r : top_run_values(pid, values, err);
}

const struct command command_top = {
	.name = "top",
	.summary = "show what a process does, live: threads, hot functions, flame view",
	.usage =
		"{PID | -a} [-F HZ] [--off-cpu] [--children] [--counters NAMES] [--only LANGUAGE] [--batch]",
	.options = top_option_table,
	.values_size = sizeof(struct top_values),
	.defaults = &(const struct top_values){ .samples.hz = HZ_NOT_GIVEN,
						.duration_ns = UINT64_MAX,
						.rows = BATCH_ROWS },
	.run = top_run,
	.notes =
		"Nothing is injected and no thread is stopped.  In the terminal ? shows the keys.\n"
		"Keeps the last half million samples; tables show the last 10 s (w: others).\n"
		"\n"
		"examples:\n"
		"  limpet top 4711                        q leaves, f writes a recording\n"
		"  limpet top 4711 --off-cpu              v also shows what threads wait for\n"
		"  limpet top 4711 --children             the whole family of a server\n"
		"  limpet top -a                          every process, the flame view by process\n"
		"  limpet top 4711 --counters task-clock,cs   with counters of the last second\n"
		"  limpet top 4711 --batch -d 10s -n 5    once, as text\n",
};
