/*
 * limpet stat: the activity of a process, counted by the kernel and the processor.
 */
#include "host/cli/command.h"
#include "host/cli/operand.h"
#include "host/cli/report.h"
#include "host/cli/stat/devices.h"
#include "host/cli/stat/writer.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/ending.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <stdlib.h>

#define INTERVAL_LEAST_NS 10000000u

struct stat_values {
	struct option_list pids, events;
	uint64_t duration_ns, interval_ns;
	bool by_thread, has_children, is_json, is_csv, is_list, has_gpus, has_pm;
	const char *pm_metrics;
};

#define FIELD(name) offsetof(struct stat_values, name)

static const struct option_desc stat_options[] = {
	OPERANDS_OPTION(FIELD(pids)),
	{ 'e', "event", "EVENTS",
	  "count these, by perf's names: cycles,{branches,branch-misses}:u; or SQ_WAVES of a GPU",
	  OPTION_LIST, FIELD(events) },
	{ 'g', "gpu", NULL,
	  "also measure NVIDIA's GPUs: SMs, tensor pipes, memory, links, power, clocks",
	  OPTION_FLAG, FIELD(has_gpus) },
	{ 0, "pm", NULL,
	  "as --gpu, and sample the counters inside them (CUPTI's PM sampling), the usual metrics",
	  OPTION_FLAG, FIELD(has_pm) },
	{ 0, "pm-metrics", "NAMES",
	  "as --pm, these metrics: sm__warps_active.avg.pct_of_peak_sustained_elapsed,...",
	  OPTION_TEXT, FIELD(pm_metrics) },
	{ 't', "threads", NULL, "also count each thread by itself", OPTION_FLAG, FIELD(by_thread) },
	{ 'C', "children", NULL, "count its descendants too, also those started later", OPTION_FLAG,
	  FIELD(has_children) },
	{ 'I', "interval", "TIME", "also print the counts of each TIME (1 or 1s, 100ms)",
	  OPTION_DURATION, FIELD(interval_ns) },
	{ 'd', "duration", "TIME", "stop after TIME (default: at Ctrl-C, or when it ends)",
	  OPTION_SPAN, FIELD(duration_ns) },
	{ 'l', "list", NULL,
	  "list the names of events, and which can be counted here; with --pm metrics of a GPU",
	  OPTION_FLAG, FIELD(is_list) },
	{ 0, "csv", NULL, "print comma-separated values", OPTION_FLAG, FIELD(is_csv) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

struct stat_job {
	const struct stat_values *values;
	const struct stat_writer *writer;
	struct counting counting;
	struct stat_view view;
	int signals;
	uint64_t next_interval_ns; /* UINT64_MAX: there are none */
};

static void stat_show(const struct stat_job *self, bool is_interval)
{
	const struct counting *counting = &self->counting;
	struct stat_span span = {
		.is_interval = is_interval,
		.begin_ns = is_interval ? counting->interval_begin_ns - counting->begin_ns : 0,
		.end_ns = counting->now_ns - counting->begin_ns,
	};

	self->writer->span(&self->view, &span);
}

static void stat_end_interval(struct stat_job *self)
{
	counting_look(&self->counting);
	counting_read(&self->counting);
	stat_show(self, /* is_interval */ true);
	counting_turn(&self->counting);
	if (self->view.devices)
		counter_watch_turn(self->view.devices);
	while (self->next_interval_ns <= now_ns())
		self->next_interval_ns += self->values->interval_ns;
}

/* Late work is done late, not skipped: the machine may be busy. */
static void stat_do_due(struct stat_job *self)
{
	if (now_ns() >= self->next_interval_ns)
		stat_end_interval(self);
	else if (!counting_look_wait_ns(&self->counting))
		counting_look(&self->counting);
}

static uint64_t stat_wait_ns(const struct stat_job *self, uint64_t end_ns)
{
	uint64_t now = now_ns(), next_ns = MIN(end_ns, self->next_interval_ns);
	uint64_t wait_ns = next_ns == UINT64_MAX ? UINT64_MAX : next_ns - MIN(now, next_ns);

	return MIN(wait_ns, counting_look_wait_ns(&self->counting));
}

static enum ending stat_await(struct stat_job *self)
{
	uint64_t duration_ns = self->values->duration_ns;
	uint64_t end_ns =
		duration_ns == UINT64_MAX ? UINT64_MAX : self->counting.begin_ns + duration_ns;

	while (now_ns() < end_ns) {
		struct counted_process *alive = counting_find_alive(&self->counting);
		enum ending ending;

		if (!alive)
			return ENDING_EXIT;
		ending = ending_wait(self->signals, alive->pidfd, stat_wait_ns(self, end_ns));
		if (ending == ENDING_EXIT)
			alive->has_ended = true;
		else if (ending != ENDING_DURATION)
			return ending;
		/* The last interval ends with the counting itself. */
		if (now_ns() < end_ns)
			stat_do_due(self);
	}
	return ENDING_DURATION;
}

/* Counters may all have been others'. */
static int stat_judge(const struct stat_view *view, struct err *err)
{
	const struct counting *counting = view->counting;
	struct counted_subject whole;

	if (view->devices && stat_devices_have_counts(view->devices))
		return 0;

	for (size_t i = 0; i < counting->count; i++) {
		counting_whole(counting, &counting->processes[i], false, &whole);
		for (size_t k = 0; k < counting->options.events->count; k++)
			if (!counting->options.events->items[k].is_hidden &&
			    count_has_value(&whole.counts[k]))
				return 0;
	}
	err_set(err, -ENODATA, "nothing was counted");
	err_fix(err, "the notes say why");
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

static int stat_count(struct stat_job *self, struct err *err)
{
	enum ending ending;

	counting_start(&self->counting);
	if (self->values->interval_ns)
		self->next_interval_ns = self->counting.begin_ns + self->values->interval_ns;
	self->writer->begin(&self->view, self->values->duration_ns);
	ending = stat_await(self);
	counting_stop(&self->counting);
	if (self->view.devices && counter_watch_stop(self->view.devices, err))
		return err->code;
	if (self->values->interval_ns && self->counting.now_ns > self->counting.interval_begin_ns)
		stat_show(self, /* is_interval */ true);
	stat_show(self, /* is_interval */ false);
	self->writer->end(&self->view, ending_name(ending));
	stat_tell_reasons(&self->view);
	return stat_judge(&self->view, err);
}

/* Windows of devices are short enough for intervals. */
static int stat_read_events(const struct stat_values *values, struct counter_choice *ret,
			    struct err *err)
{
	uint64_t window_ns = values->interval_ns ? values->interval_ns / 2 : 0;
	int r;

	if (!values->events.count) {
		ret->options.interval_ns = window_ns ? MIN(window_ns, (uint64_t)COUNTER_INTERVAL_NS)
						     : COUNTER_INTERVAL_NS;
		return counter_events_default(&ret->events, &counter_sources_system, err);
	}
	r = counter_choice_make(ret, values->events.items, values->events.count,
				MIN(window_ns, (uint64_t)COUNTER_INTERVAL_NS), err);
	if (!r)
		counter_events_add_checks(&ret->events);
	return r;
}

/* As window_options has them. */
static const char *stat_pm_metrics(const struct stat_values *values)
{
	return values->pm_metrics ? values->pm_metrics : values->has_pm ? "" : NULL;
}

static int stat_begin_devices(struct stat_job *self, struct counter_choice *choice,
			      const struct counting_options *options, struct err *err)
{
	int r;

	choice->options.pm_metrics = stat_pm_metrics(self->values);
	choice->options.has_gpus = self->values->has_gpus || choice->options.pm_metrics;
	if (!choice->has_devices && !choice->options.has_gpus)
		return 0;
	r = counter_choice_check_alone(choice, options->pid_count == 1 && !options->has_children,
				       err);
	if (!r)
		r = stat_devices_start(&self->view.devices, choice, options->pids[0], err);
	if (!r && choice->note[0])
		print(stderr, "note: %s\n", choice->note);
	return r;
}

static int stat_run_choice(const struct stat_values *values, struct counter_choice *choice,
			   const struct counting_options *options, struct err *err)
{
	/* Before any slow start. */
	CLEANUP(close) int signals = ending_prepare(err);
	struct stat_job job = { .values = values,
				.signals = signals,
				.next_interval_ns = UINT64_MAX };
	int r = signals < 0 ? signals : counting_open(&job.counting, options, err);

	if (r)
		return r;
	job.writer = values->is_json ? &stat_json : values->is_csv ? &stat_csv : &stat_text;
	job.view.counting = &job.counting;
	counter_machine_read(&job.view.machine);
	r = stat_begin_devices(&job, choice, options, err);
	if (!r)
		r = stat_count(&job, err);
	counter_watch_free(job.view.devices);
	counting_close(&job.counting);
	return r;
}

static int stat_run_values(const struct stat_values *values, const pid_t *pids, size_t pid_count,
			   struct err *err)
{
	CLEANUP(free) struct counter_choice *choice = calloc(1, sizeof(*choice));
	struct counting_options options = { .pids = pids,
					    .pid_count = pid_count,
					    .by_thread = values->by_thread,
					    .has_children = values->has_children };
	int r;

	if (!choice)
		return err_set(err, -ENOMEM, "no memory for events");
	options.events = &choice->events;
	r = stat_read_events(values, choice, err);
	if (r)
		return r;
	r = stat_run_choice(values, choice, &options, err);
	counter_choice_done(choice);
	return r;
}

static int stat_list_metrics(bool is_json, struct err *err)
{
	CLEANUP(close) int signals = ending_prepare(err);

	return signals < 0 ? signals : stat_list_pm(is_json, err);
}

static int stat_check(const struct stat_values *values, struct err *err)
{
	if (values->is_json && values->is_csv)
		err_set(err, -EINVAL, "--json and --csv cannot be had together");
	else if (values->interval_ns && values->interval_ns < INTERVAL_LEAST_NS)
		err_set(err, -EINVAL, "-I: the shortest interval is 10 ms");
	else
		return 0;
	return err_exit(err, EXIT_USAGE);
}

static enum exit_code stat_run(char **argv)
{
	struct stat_values values = { .duration_ns = UINT64_MAX };
	pid_t pids[OPTION_LIST_MAX];
	struct err err = { 0 };
	size_t pid_count = 0;
	int operands = options_parse(stat_options, argv, &values, &err), r = MIN(operands, 0);

	if (!r)
		r = stat_check(&values, &err);
	if (!r && values.is_list && (operands || values.pids.count))
		r = report_surplus(operands ? argv[0] : values.pids.items[0], &err);
	else if (!r && values.is_list && stat_pm_metrics(&values))
		r = stat_list_metrics(values.is_json, &err);
	else if (!r && values.is_list)
		stat_list(values.is_json);
	else if (!r)
		r = operand_processes(&values.pids, argv, operands, pids, &pid_count, &err);
	if (!r && !values.is_list)
		(void)!stat_run_values(&values, pids, pid_count, &err);
	return report_end("stat", values.is_json, &err);
}

const struct command command_stat = {
	.name = "stat",
	.summary = "count what a process does: CPU time, context switches, faults, cycles",
	.usage =
		"PID [-e EVENTS] [--gpu] [--pm] [--threads] [--children] [-I TIME] [-d TIME] [--csv | --json]",
	.options = stat_options,
	.run = stat_run,
	.notes =
		"Nothing is loaded into the process and nothing in it is stopped, but for counters of GPUs,\n"
		"which an agent in it reads (limpet record --counters).  Threads that come and go\n"
		"meanwhile are counted.  What cannot be counted is never 0: it says <not supported> or\n"
		"<not counted>, and why.  A count that is scaled says for which share of the time it was\n"
		"counted.\n"
		"\n"
		"examples:\n"
		"  limpet stat 4711 -d 10\n"
		"  limpet stat 4711 --threads\n"
		"  limpet stat 4711 -I 1 --csv\n"
		"  limpet stat 4711 -e task-clock,context-switches:k,'{cycles,instructions}:u'\n"
		"  limpet stat 4711 -e task-clock,SQ_WAVES,GRBM_COUNT -I 1\n"
		"  limpet stat 4711 --gpu -I 1\n"
		"  limpet stat 4711 --pm-metrics dram__bytes_read.sum,sm__inst_executed.sum -d 10\n"
		"  limpet stat --list\n"
		"  limpet stat --list --pm\n",
};
