/*
 * limpet stat: the activity of a process, counted by the kernel and the processor.
 */
#include "host/cli/common/operand.h"
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
	  FIELD(events), OPTION_LIST },
	{ 'g', "gpu", NULL,
	  "also measure NVIDIA's GPUs: SMs, tensor pipes, memory, links, power, clocks",
	  FIELD(has_gpus) },
	{ 0, "pm", NULL,
	  "as --gpu, and sample the counters inside them (CUPTI's PM sampling), the usual metrics",
	  FIELD(has_pm) },
	{ 0, "pm-metrics", "NAMES",
	  "as --pm, these metrics: sm__warps_active.avg.pct_of_peak_sustained_elapsed,...",
	  FIELD(pm_metrics), OPTION_TEXT },
	{ 't', "threads", NULL, "also count each thread by itself", FIELD(by_thread) },
	{ 'C', "children", NULL, "count its descendants too, also those started later",
	  FIELD(has_children) },
	{ 'I', "interval", "TIME", "also print the counts of each TIME (1 or 1s, 100ms)",
	  FIELD(interval_ns), OPTION_DURATION },
	{ 'd', "duration", "TIME", "stop after TIME (default: at Ctrl-C, or when it ends)",
	  FIELD(duration_ns), OPTION_SPAN },
	{ 'l', "list", NULL,
	  "list the names of events, and which can be counted here; with --pm metrics of a GPU",
	  FIELD(is_list) },
	{ 0, "csv", NULL, "print comma-separated values", FIELD(is_csv) },
	{ 'j', "json", NULL, "print one JSON object per line", FIELD(is_json) },
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

static void stat_show(struct stat_job *self, bool is_interval)
{
	const struct counting *counting = &self->counting;

	self->view.span = (struct stat_span){
		.is_interval = is_interval,
		.begin_ns = is_interval ? counting->interval_begin_ns - counting->begin_ns : 0,
		.end_ns = counting->now_ns - counting->begin_ns,
	};
	self->writer->span(&self->view);
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
		/* The last interval ends with the counting itself.  Late work is done late, not
		 * skipped: the machine may be busy. */
		if (now_ns() >= end_ns)
			break;
		if (now_ns() >= self->next_interval_ns)
			stat_end_interval(self);
		else if (!counting_look_wait_ns(&self->counting))
			counting_look(&self->counting);
	}
	return ENDING_DURATION;
}

static bool devices_have_counts(struct counter_watch *devices)
{
	size_t count;
	CLEANUP(free) struct watched_counter *rows = counter_watch_copy(devices, &count);
	bool have_counts = false;

	for (size_t i = 0; i < count; i++)
		have_counts |= rows[i].all.time_ns > 0;
	return have_counts;
}

/* Counters may all have been others'. */
static int stat_judge(const struct stat_view *view, struct err *err)
{
	const struct counting *counting = view->counting;
	struct counted_subject whole;

	if (view->devices && devices_have_counts(view->devices))
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
	if (self->writer->end)
		self->writer->end(&self->view, ending_name(ending));
	stat_print_reasons(&self->view);
	return stat_judge(&self->view, err);
}

/* Windows of devices are short enough for intervals. */
static int stat_read_events(const struct stat_values *values, struct counter_choice *ret,
			    struct err *err)
{
	uint64_t window_ns = MIN(values->interval_ns / 2, (uint64_t)COUNTER_INTERVAL_NS);
	int r;

	if (!values->events.count) {
		ret->options.interval_ns = window_ns ? window_ns : COUNTER_INTERVAL_NS;
		return counter_events_default(&ret->events, &counter_sources_system, err);
	}
	r = counter_choice_make(ret, values->events.items, values->events.count, window_ns, err);
	if (!r)
		counter_events_add_checks(&ret->events);
	return r;
}

/* As window_options has them. */
static const char *stat_pm_metrics(const struct stat_values *values)
{
	return values->pm_metrics ? values->pm_metrics : values->has_pm ? "" : NULL;
}

static int stat_begin_devices(struct stat_job *self, struct counter_choice *choice, struct err *err)
{
	const struct counting_options *options = &self->counting.options;
	int r;

	choice->options.pm_metrics = stat_pm_metrics(self->values);
	choice->options.has_gpus = self->values->has_gpus || choice->options.pm_metrics;
	if (!choice->has_devices && !choice->options.has_gpus)
		return 0;
	choice->options.events = NULL; /* they are counted beside it */
	r = counter_choice_check_alone(choice, options->pid_count == 1 && !options->has_children,
				       err);
	if (!r)
		r = counter_watch_start(&self->view.devices, choice, options->pids[0],
					LIMPET_VERSION, err);
	if (!r && choice->note[0])
		print(stderr, "note: %s\n", choice->note);
	return r;
}

static int stat_measure(const struct stat_values *values, const struct counting_options *options,
			struct counter_choice *choice, struct err *err)
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
	r = stat_begin_devices(&job, choice, err);
	if (!r)
		r = stat_count(&job, err);
	counter_watch_free(job.view.devices);
	counting_close(&job.counting);
	return r;
}

static int stat_run(const struct command_line *line, struct err *err)
{
	CLEANUP(counter_choice_done) struct counter_choice choice = { 0 };
	const struct stat_values *values = line->values;
	pid_t pids[OPTION_LIST_MAX];
	struct counting_options options = { .events = &choice.events,
					    .pids = pids,
					    .by_thread = values->by_thread,
					    .has_children = values->has_children };
	int r;

	if (values->is_json && values->is_csv)
		return err_usage(err, NULL, "--json and --csv cannot be had together");
	if (values->interval_ns && values->interval_ns < INTERVAL_LEAST_NS)
		return err_usage(err, NULL, "-I: the shortest interval is 10 ms");
	if (!values->is_list) {
		r = operand_processes(line, &values->pids, pids, &options.pid_count, err);
		if (!r)
			r = stat_read_events(values, &choice, err);
		return r ? r : stat_measure(values, &options, &choice, err);
	}
	if (line->count || values->pids.count)
		return command_surplus(line->count ? line->operands[0] : values->pids.items[0],
				       err);
	if (stat_pm_metrics(values)) {
		CLEANUP(close) int signals = ending_prepare(err);

		return signals < 0 ? signals : stat_list_pm(values->is_json, err);
	}
	stat_list(values->is_json);
	return 0;
}

const struct command command_stat = {
	.name = "stat",
	.summary = "count what a process does: CPU time, context switches, faults, cycles",
	.usage =
		"PID [-e EVENTS] [--gpu] [--pm] [--threads] [--children] [-I TIME] [-d TIME] [--csv | --json]",
	.options = stat_options,
	.values_size = sizeof(struct stat_values),
	.defaults = &(const struct stat_values){ .duration_ns = UINT64_MAX },
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
