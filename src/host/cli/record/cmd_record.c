/*
 * limpet record: sample and trace a running process, or one that it starts, into a file, until it
 * is stopped.
 */
#include "host/cli/common/operand.h"
#include "host/cli/common/ui_page.h"
#include "host/cli/doctor/doctor.h"
#include "host/cli/record/visit.h"
#include "host/core/self/ending.h"
#include "host/core/self/question.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/live/source.h"
#include "host/process/forks/scope.h"
#include "host/process/status.h"
#include "host/ui/browser.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIELD(name) offsetof(struct record_values, name)

static const struct option_desc record_options[] = {
	OPERANDS_OPTION(FIELD(pids)),
	{ 'a', "all", NULL, "sample every process of the machine, and what comes later",
	  FIELD(samples.is_system_wide) },
	{ 'o', "output", "FILE", "write the recording to FILE (default: limpet-PID.limpet)",
	  FIELD(output), OPTION_TEXT },
	{ 0, "overwrite", NULL, "replace a recording that FILE holds already, without asking",
	  FIELD(overwrites) },
#define RECORD_FIELD(member) FIELD(member)
#include "host/cli/record/what.def"
	{ 0, "ui", NULL, "watch it on a page meanwhile, as limpet ui shows it; ends at Ctrl-C",
	  FIELD(is_watched) },
	{ 0, "no-open", NULL, "with --ui: print the address only; open no browser",
	  FIELD(no_open) },
	{ 'j', "json", NULL, "print one JSON object per line", FIELD(is_json) },
	{ 0 },
};

/* The options of runtimes, which imply a trace where none is given, become bits of the request. */
static int read_trace_options(const struct record_values *values, struct trace_options *ret,
			      struct err *err)
{
	*ret = values->trace;
	ret->functions = values->functions.items;
	ret->function_count = values->functions.count;
	for (unsigned i = 0; i < RUNTIME_OPTIONS; i++) {
		const struct runtime_option_facts *facts = &runtime_options[i];
		const char *word = values->runtime_words[i];

		if (!values->runtime_flags[i] && !word)
			continue;
		if (word && strcmp(word, facts->word) && strcmp(word, facts->usual)) {
			err_usage(err, NULL, "--%s: unknown set '%s'", facts->option, word);
			return err_fix(err, "--%s %s, or %s", facts->option, facts->word,
				       facts->usual);
		}
		if (!(values->trace.domains & facts->unless))
			ret->domains |= facts->implied;
		if (!word || !strcmp(word, facts->word))
			ret->runtime_options |= 1u << i;
	}
	return 0;
}

/* DELAY:TIME:REPEAT.  Times are parsed as in all options: bare numbers are seconds, as in AMD's
 * tools. */
static int period_parse(const char *text, struct period *ret, struct err *err)
{
	char copy[64], *rest = copy, *delay, *time;

	snprintf(copy, sizeof(copy), "%s", text);
	delay = strsep(&rest, ":");
	time = strsep(&rest, ":");
	if (rest && strlen(text) < sizeof(copy) && !text_parse_duration(delay, &ret->delay_ns) &&
	    !text_parse_duration(time, &ret->time_ns) && ret->time_ns &&
	    !text_parse_number(rest, UINT64_MAX, &ret->repeat))
		return 0;
	return err_usage(err, "DELAY:TIME:REPEAT, for example 5s:10s:3 (REPEAT 0: for ever)",
			 "'%s' is not a collection period", text);
}

/* Whether an existing recording may be replaced.  Without a terminal no user can be asked: the end
 * reports it. */
static int confirm_output(struct visit *visit, struct err *err)
{
	const char *path = visit->values->output;
	struct stat file;

	if (!path || visit->values->overwrites || stat(path, &file) || !S_ISREG(file.st_mode) ||
	    !file.st_size)
		return 0;
	visit->replaces = true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) ||
	    question_ask("%s holds something already. Replace it?", path))
		return 0;
	return err_usage(err, "-o with another name, or --overwrite", "'%s' stays as it was", path);
}

/* -a loads nothing into any process. */
static int check_all(const struct record_values *values, const struct visit *visit, struct err *err)
{
	const struct all_conflict conflicts[] = {
		{ values->pids.count, "-p", "-a samples every process", "one of both" },
		{ visit->loads_agent, "traces",
		  "a trace loads code into the process that is traced; -a loads nothing into any",
		  "-p PID, with --children for its family" },
		{ visit->traces, "--syscall-trace",
		  "calls are followed of processes that are named", "-p PID --syscall-trace" },
		{ values->counters.count, "--counters",
		  "counters are opened for processes that are named",
		  "-p PID --counters, with --children for its family" },
	};

	return samples_check_all(&values->samples, conflicts, ARRAY_SIZE(conflicts), err);
}

/* Counters of devices are read by an agent in the process. */
static int read_counters(const struct record_values *values, struct visit *visit,
			 struct recorder_options *options, struct err *err)
{
	struct counter_choice *choice = &visit->counters;
	bool is_alone = visit->pid_count <= 1 && !values->samples.children;
	bool has_gpus = values->gpu_metrics || values->has_pm || values->pm_metrics;
	int r;

	if (!values->counters.count && !has_gpus)
		return 0;
	r = values->counters.count
		    ? counter_choice_make(choice, values->counters.items, values->counters.count,
					  values->counter_interval_ns, err)
		    : counter_choice_make_gpus(choice, values->counter_interval_ns, err);
	if (r)
		return r;
	visit->counts = true;
	choice->options.has_gpus = has_gpus;
	choice->options.pm_metrics = values->pm_metrics ? values->pm_metrics
				     : values->has_pm   ? ""
							: NULL;
	options->windows = &choice->options;
	options->trace.windows = choice->has_devices ? choice->devices.words : NULL;
	return counter_choice_check_alone(choice, is_alone, err);
}

static int parse_values(const struct record_values *values, struct recorder_options *options,
			struct visit *visit, struct err *err)
{
	int r = read_trace_options(values, &options->trace, err);

	if (!r)
		r = read_counters(values, visit, options, err);
	visit->domains = trace_domains(&options->trace) & ~DOMAIN_BIT(WINDOW);
	visit->traces = visit->domains != 0;
	visit->loads_agent = trace_domains(&options->trace) & ~DOMAINS_BPF;
	visit->samples = !visit->traces || values->samples.hz != HZ_NOT_GIVEN ||
			 values->samples.off_cpu || values->samples.sampler ||
			 values->samples.java_names || values->samples.event;
	options->sampling = visit->samples ? &visit->sampling : NULL;
	if (!r)
		r = check_all(values, visit, err);
	if (!r)
		r = samples_options(&values->samples, &visit->sampling, err);
	visit->sampling.sampler.needs_stacks = true;
	visit->job.times.max_bytes = values->max_size;
	visit->period = PERIOD_ALWAYS;
	return r || !values->period ? r : period_parse(values->period, &visit->period, err);
}

/* Counters belong to another machine: its set is not known here. */
int record_values_check(const struct record_values *values, bool *ret_traces, struct err *err)
{
	struct record_values known = *values;
	struct recorder_options options = { 0 };
	struct visit visit = { .values = &known };
	int r;

	known.counters.count = 0;
	known.gpu_metrics = known.has_pm = false;
	known.pm_metrics = NULL;
	r = parse_values(&known, &options, &visit, err);
	*ret_traces = visit.loads_agent || values->counters.count;
	return r;
}

static int record_make(struct visit *visit, struct recorder_options *options, struct err *err)
{
	const struct record_values *values = visit->values;
	int r;

	options->is_system_wide = values->samples.is_system_wide;
	options->pids = visit->pids;
	options->pid_count = visit->pid_count;
	options->has_children = values->samples.children;
	options->listener = visit_listener(visit);
	options->is_path_new = !values->output; /* an existing file is kept unless it was named */
	options->path = visit->path = values->output ? values->output : visit->own_path;
	visit->sampling.sampler.pid = visit->pids[0];
	if (options->is_path_new) {
		options->new_file =
			recording_unused_path(options->is_system_wide ? 0 : visit->pids[0],
					      visit->own_path, sizeof(visit->own_path), err);
		if (options->new_file < 0)
			return options->new_file;
	}
	r = recorder_open(&visit->recorder, options, err);
	if (r)
		return r;
	visit->shows_progress = isatty(STDERR_FILENO) && !values->is_json && !visit->launched;
	return record_finish(visit, record_visit(visit, err), err);
}

static int record_running(struct visit *visit, struct recorder_options *options, struct err *err)
{
	int r = visit->signals = ending_prepare(err);

	ending_outlive_pipes();
	return r < 0 ? r : record_make(visit, options, err);
}

/* --ui: the same recording, made by the page's own session, which shows it. */
static int record_watched(struct visit *visit, struct recorder_options *options, struct err *err)
{
	const struct record_values *values = visit->values;
	struct source_options job = { .sampling = visit->samples ? &visit->sampling : NULL,
				      .is_kept = true };
	struct ui_options page = { .version = LIMPET_VERSION,
				   .examine = doctor_write_members,
				   .lease_ns = UI_LEASE_NS,
				   .record = &job };

	if (visit->pid_count != 1)
		return err_usage(err, "one -p; --children records its descendants too",
				 "--ui watches one process");
	options->pids = visit->pids;
	options->pid_count = 1;
	options->has_children = values->samples.children;
	options->path = values->output;
	visit->sampling.sampler.pid = visit->pids[0];
	job.job = (struct background_options){
		.recorder = *options,
		.times = { .periods = &visit->period,
			   .period_count = 1,
			   .duration_ns = values->duration_ns,
			   .max_bytes = values->max_size },
		.unload = values->unload,
	};
	invoker_find(&page.user, &page.group);
	return ui_page_run(&page, &(struct ui_page_words){ values->no_open, values->is_json }, err);
}

static void print_program_end(const struct launch *program, bool is_json)
{
	char buffer[96];
	struct json json;

	if (!is_json) {
		print(stderr, "the program ended: %s\n",
		      launch_describe(program, buffer, sizeof(buffer)));
		return;
	}
	json = json_event(stdout, "program");
	json_signed(&json, "pid", program->pid);
	if (WIFSIGNALED(program->status))
		json_signed(&json, "signal", WTERMSIG(program->status));
	else
		json_signed(&json, "status", WEXITSTATUS(program->status));
	json_object_end(&json);
}

/* A program that a signal stopped will not be recorded: nothing that is done to it would help. */
static void explain_stop(pid_t pid, const char *name, struct err *err)
{
	struct process_status status;
	struct err ignored;

	if (status_read(pid, pid, &status, &ignored) || status.state != 'T')
		return;
	err_set(err, err->code, "cannot trace '%s' from its beginning", name);
	err_why(err,
		"a signal (SIGSTOP, Ctrl-Z) stopped it before limpet had prepared it; it was not run");
	err_fix(err,
		"start it again, and do not stop it before limpet prints that it is recording");
	err_exit(err, EXIT_BUSY);
}

/* The program owns stdout; limpet's messages go to stderr. */
static int record_launched(char **command, struct visit *visit, struct recorder_options *options,
			   struct err *err)
{
	struct launched launched;
	const struct launch *launch = &launched.launch;
	int r = launched_start(&launched, command, visit->loads_agent, err);

	dup2(STDERR_FILENO, STDOUT_FILENO);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (r)
		return r;
	visit->launched = &launched;
	visit->sampling.is_new = true;
	options->session.attach.doorstep = launch->doorstep;
	visit->pids[0] = launch->pid;
	visit->pid_count = 1;
	r = record_make(visit, options, err);
	if (r && !launch->is_let_go)
		explain_stop(launch->pid, command[0], err);
	launched_finish(&launched);
	if (launch->is_let_go)
		print_program_end(launch, visit->values->is_json);
	else
		print(stderr, "the program was not run\n");
	return r;
}

static int visit_run(struct visit *visit, char **command, struct err *err)
{
	const struct record_values *values = visit->values;
	struct debuginfod debuginfod = { 0 };
	struct recorder_options options = {
		.session.attach = { .force = values->force, .resumes = values->resumes },
		.session.is_strict = true,
		.session.all_descendants = !command && values->all_descendants,
		.version = LIMPET_VERSION,
	};
	int r = parse_values(values, &options, visit, err);

	if (!r)
		r = confirm_output(visit, err);
	if (!r && values->samples.debuginfod)
		r = debuginfod_enable(&debuginfod, err);
	/* Samples load nothing into a process, so their scope needs no consent; traces do, and
	 * --java-names has each virtual machine run a command. */
	if (!r && !command && values->samples.children &&
	    (visit->loads_agent || values->samples.java_names))
		r = scope_confirm(visit->pids, visit->pid_count, &options.session.all_descendants,
				  err);
	if (r)
		return r;
	note_what_stays(visit);
	if (values->is_watched)
		r = record_watched(visit, &options, err);
	else
		r = command ? record_launched(command, visit, &options, err)
			    : record_running(visit, &options, err);
	debuginfod_report(&debuginfod);
	counter_choice_done(&visit->counters);
	return r;
}

static int record_run(const struct command_line *line, struct err *err)
{
	const struct record_values *values = line->values;
	struct visit visit = { .values = values };
	int r = 0;

	if (line->program && (values->pids.count || line->count))
		return err_usage(err,
				 "limpet record -p PID ..., or: limpet record ... -- CMD [ARGS]",
				 "both a process and a program to start are given");
	if (values->is_watched && (line->program || values->samples.is_system_wide))
		return err_usage(err, "start the program, then: limpet record -p PID --ui",
				 "--ui watches a process that runs");
	if (values->samples.is_system_wide)
		r = command_check_count(line, &operands_none, err);
	else if (!line->program)
		r = operand_processes(line, &values->pids, visit.pids, &visit.pid_count, err);
	return r ? r : visit_run(&visit, line->program, err);
}

const struct command command_record = {
	.name = "record",
	.summary = "record samples and traces of a running process, or of a program it starts",
	.usage =
		"{-p PID... | -a | -- CMD [ARGS]} [-o FILE] [--duration TIME] [-F HZ] [--off-cpu] [--children] [--alloc-trace] [--io-trace] [--lock-trace] [--syscall-trace] [--marker-trace] [--sys-trace] [--opencl-trace] [--counters NAMES] [--function LIB:SYMBOL]",
	.options = record_options,
	.values_size = sizeof(struct record_values),
	.defaults = &(const struct record_values)RECORD_VALUES,
	.starts_programs = true,
	.run = record_run,
	.notes =
		"Without a trace it samples: what every thread does, 99 times a second.  With traces it\n"
		"samples too when -F, --off-cpu or --sampler is given; --counters changes nothing of that.\n"
		"With --children, and with several -p, all processes are in the one file.  With -a every\n"
		"process of the machine is, but for limpet itself; with -- CMD as long as that program runs.\n"
		"\n"
		"Stops at Enter, Ctrl-C, SIGTERM, the duration, the size, or the end of the process.\n"
		"A second Ctrl-C stops writing what is left, but still detaches; limpet ends within a second.\n"
		"With -- CMD the program is recorded from its first call; it gets the terminal and\n"
		"the signals, and limpet ends when it does, with an exit code of its own.\n"
		"\n"
		"examples:\n"
		"  limpet record -p 4711 --duration 10s\n"
		"  limpet record -p 4711 -F 999 --off-cpu\n"
		"  limpet record -p 4711 --children\n"
		"  limpet record -p 4711 --children --alloc-trace --lock-trace\n"
		"  limpet record -p 4711 -p 4712 --io-trace\n"
		"  limpet record -p 4711 --syscall-trace -d 5\n"
		"  limpet record -a --duration 10s\n"
		"  limpet record -a -- make -j8\n"
		"  limpet record -p 4711 --alloc-trace --io-trace --duration 10s\n"
		"  limpet record -p 4711 --function 'libssl.so:SSL_*' -o tls.limpet\n"
		"  limpet record -p 4711 --hip-trace --kernel-trace --memory-copy-trace\n"
		"  limpet record -p 4711 --counters task-clock,context-switches --counter-interval 10ms\n"
		"  limpet record -p 4711 --kernel-trace --counters SQ_WAVES,GRBM_COUNT\n"
		"  limpet record -- ./program argument\n"
		"  limpet record --alloc-trace -o it.limpet -- ./program argument\n"
		"  limpet report tls.limpet\n",
};
