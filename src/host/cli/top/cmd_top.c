/*
 * limpet top: the activity of a process, or with -a of all, live in the terminal or once as text.
 */
#include <inttypes.h>
#include <unistd.h>

#include "host/cli/command.h"
#include "host/cli/operand.h"
#include "host/cli/record/samples.h"
#include "host/cli/report.h"
#include "host/cli/top/text.h"
#include "host/cli/version.h"
#include "host/cli/view.h"
#include "host/core/cleanup.h"
#include "host/core/self/ending.h"
#include "host/core/text/print.h"
#include "host/model/samples/profile.h"
#include "host/recorder/windows/counter_choice.h"
#include "host/top/render/show.h"

#define BATCH_NS   2000000000u
#define BATCH_ROWS 20u

#define COUNTER_INTERVAL_SHOWN_NS 1000000000u

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
	{ 'a', "all", NULL, "show every process of the machine, and what comes later", OPTION_FLAG,
	  FIELD(samples.is_system_wide) },
	{ 'F', "frequency", "HZ", "take HZ samples a second, 1 to 5000 (default: 99)",
	  OPTION_NUMBER, FIELD(samples.hz) },
	{ 0, "off-cpu", NULL, "also sample waiting threads; v shows them", OPTION_FLAG,
	  FIELD(samples.off_cpu) },
	{ 'C', "children", NULL, "show its descendants too, also those started later", OPTION_FLAG,
	  FIELD(samples.children) },
	{ 0, "sampler", "NAME", "use only this sampler: bpf, copy, read or state", OPTION_TEXT,
	  FIELD(samples.sampler) },
	ONLY_OPTION(FIELD(shown)),
	FULL_PATHS_OPTION(FIELD(shown)),
	{ 0, "counters", "NAMES", "show counters too: task-clock,page-faults, or SQ_WAVES of a GPU",
	  OPTION_LIST, FIELD(counters) },
	{ 0, "counter-interval", "TIME", "length of their windows (default: 1s)", OPTION_DURATION,
	  FIELD(counter_interval_ns) },
	{ 'd', "duration", "TIME", "stop after TIME (--batch: 2s when not given)", OPTION_SPAN,
	  FIELD(duration_ns) },
	{ 'o', "output", "FILE", "write to FILE when f is pressed (default: limpet-PID.limpet)",
	  OPTION_TEXT, FIELD(output) },
	{ 'b', "batch", NULL, "print the tables once, as text; with -o also the recording",
	  OPTION_FLAG, FIELD(is_batch) },
	{ 'n', "limit", "N", "show N rows of each table of --batch (default: 20; 0: all)",
	  OPTION_NUMBER, FIELD(rows) },
	{ 0, "no-color", NULL, "use no colours; NO_COLOR in the environment does the same",
	  OPTION_FLAG, FIELD(no_color) },
	{ 0, "ascii", NULL, "use only ASCII characters", OPTION_FLAG, FIELD(ascii) },
	{ 0 },
};

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

static int picture_freeze(struct top *top, const struct picture *picture, const char *path,
			  struct err *err)
{
	char text[512];
	int r = path ? top_freeze(top, picture, path, text, sizeof(text), err) : 0;

	if (path && !r)
		print(stdout, "\n%s\n", text);
	return r;
}

/* A batch includes everything sampled, in all selected kinds of samples. */
static int print_once(struct top *top, const struct top_values *values, struct err *err)
{
	struct picture_wish wish = { .kinds = values->samples.off_cpu ? KINDS_ALL : KINDS_ON_CPU,
				     .until_ns = UINT64_MAX };
	struct picture *picture;
	int r = top_take(top, &wish, &picture, err);

	if (r)
		return r;
	top_text_print(picture, values->rows ? values->rows : SIZE_MAX, stdout);
	r = top_judge(picture, err);
	if (!r && picture->source.error.code) {
		*err = picture->source.error;
		r = err->code;
	}
	if (!r)
		r = picture_freeze(top, picture, values->output, err);
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

static int run_screen(struct top *top, const struct top_values *values, struct err *err)
{
	const struct show_options options = {
		.terminal = { .no_color = values->no_color, .is_ascii = values->ascii },
		.duration_ns = values->duration_ns,
		.output = values->output,
	};

	return top_show(top, &options, err);
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
				interval_ns ? interval_ns : COUNTER_INTERVAL_SHOWN_NS, err);
	if (r)
		return r;
	*ret = room;
	if (room->note[0])
		print(stderr, "note: %s\n", room->note);
	return counter_choice_check_alone(room, !values->samples.children, err);
}

static int check_all(const struct top_values *values, struct err *err)
{
	const struct all_conflict conflicts[] = {
		{ values->pid, "-p", "-a shows every process", "one of both" },
		{ values->counters.count, "--counters",
		  "counters are opened for processes that are named", "-p PID --counters" },
	};

	return samples_check_all(&values->samples, conflicts, ARRAY_SIZE(conflicts), err);
}

/* 0: every process. */
static int find_target(const struct top_values *values, char **operands, int count, pid_t *ret,
		       struct err *err)
{
	if (!values->samples.is_system_wide)
		return operand_process(values->pid, operands, count, ret, err);
	*ret = 0;
	return count ? report_surplus(operands[0], err) : check_all(values, err);
}

static int top_run_values(pid_t pid, const struct top_values *values, struct err *err)
{
	CLEANUP(counter_choice_done) struct counter_choice choice = { 0 };
	CLEANUP(top_close) struct top *top = NULL;
	struct top_options options = { .version = LIMPET_VERSION };
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
						   : run_screen(top, values, err);
}

static enum exit_code top_run(char **argv)
{
	struct top_values values = { .samples.hz = HZ_NOT_GIVEN,
				     .duration_ns = UINT64_MAX,
				     .rows = BATCH_ROWS };
	struct err err = { 0 };
	int operands = options_parse(top_option_table, argv, &values, &err);
	pid_t pid;

	if (operands >= 0 && !find_target(&values, argv, operands, &pid, &err))
		(void)!top_run_values(pid, &values, &err);
	return report_end("top", false, &err);
}

const struct command command_top = {
	.name = "top",
	.summary = "show what a process does, live: threads, hot functions, flame view",
	.usage =
		"{PID | -a} [-F HZ] [--off-cpu] [--children] [--counters NAMES] [--only LANGUAGE] [--batch]",
	.options = top_option_table,
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
