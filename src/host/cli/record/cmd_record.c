/*
 * limpet record: sample and trace a running process, or one that it starts, into a file, until it
 * is stopped.
 */
#include "host/cli/command.h"
#include "host/cli/operand.h"
#include "host/cli/record/messages.h"
#include "host/cli/record/period.h"
#include "host/cli/record/size.h"
#include "host/cli/report.h"
#include "host/cli/version.h"
#include "host/core/self/ending.h"
#include "host/core/self/question.h"
#include "host/core/text/print.h"
#include "host/process/forks/scope.h"
#include "host/process/status.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIELD(name) offsetof(struct record_values, name)

static const struct option_desc record_options[] = {
	OPERANDS_OPTION(FIELD(pids)),
	{ 'a', "all", NULL, "sample every process of the machine, and what comes later",
	  OPTION_FLAG, FIELD(samples.is_system_wide) },
	{ 'o', "output", "FILE", "write the recording to FILE (default: limpet-PID.limpet)",
	  OPTION_TEXT, FIELD(output) },
	{ 0, "overwrite", NULL, "replace a recording that FILE holds already, without asking",
	  OPTION_FLAG, FIELD(overwrites) },
#define RECORD_FIELD(member) FIELD(member)
#include "host/cli/record/what.def"
	{ 0, "ui", NULL, "watch it on a page meanwhile, as limpet ui shows it; ends at Ctrl-C",
	  OPTION_FLAG, FIELD(is_watched) },
	{ 0, "no-open", NULL, "with --ui: print the address only; open no browser", OPTION_FLAG,
	  FIELD(no_open) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

/* The options of runtimes, which imply a trace where none is given, as bits of the request. */
static int read_runtime_options(const struct record_values *values, struct trace_options *ret,
				struct err *err)
{
	for (unsigned i = 0; i < RUNTIME_OPTIONS; i++) {
		const struct runtime_option_facts *facts = &runtime_options[i];
		const char *word = values->runtime_words[i];

		if (!values->runtime_flags[i] && !word)
			continue;
		if (word && strcmp(word, facts->word) != 0 && strcmp(word, facts->usual) != 0) {
			err_set(err, -EINVAL, "--%s: unknown set '%s'", facts->option, word);
			err_fix(err, "--%s %s, or %s", facts->option, facts->word, facts->usual);
			return err_exit(err, EXIT_USAGE);
		}
		if (!(values->domains_traced & facts->unless))
			ret->domains |= facts->implied;
		if (!word || !strcmp(word, facts->word))
			ret->runtime_options |= 1u << i;
	}
	return 0;
}

static int read_trace_options(const struct record_values *values, struct trace_options *ret,
			      struct err *err)
{
	*ret = (struct trace_options){
		.domains = values->domains_traced,
		.alloc_stacks = values->alloc_stacks,
		.io_stacks = values->io_stacks,
		.lock_stacks = values->lock_stacks,
		.all_locks = values->all_locks,
		.address_entries = values->address_entries,
		.functions = values->functions.items,
		.function_count = values->functions.count,
	};
	if (size_parse("--alloc-sample", values->alloc_sample, &ret->alloc_sample, err) ||
	    size_parse("--ring-size", values->ring_size, &ret->ring_size, err))
		return err->code;
	return read_runtime_options(values, ret, err);
}

static bool holds_something(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISREG(file.st_mode) && file.st_size > 0;
}

/* Whether an existing recording may be replaced.  Without a terminal no user can be asked: the end
 * reports it. */
static int confirm_output(struct visit *visit, struct err *err)
{
	const char *path = visit->values->output;

	if (!path || visit->values->overwrites || !holds_something(path))
		return 0;
	visit->replaces = true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) ||
	    question_ask("%s holds something already. Replace it?", path))
		return 0;
	err_set(err, -EEXIST, "'%s' stays as it was", path);
	err_fix(err, "-o with another name, or --overwrite");
	return err_exit(err, EXIT_USAGE);
}

/* An existing file is kept unless the user named it. */
static int choose_file(struct visit *visit, struct recorder_options *options, struct err *err)
{
	const char *named = visit->values->output;

	visit->path = options->path = named ? named : visit->own_path;
	options->is_path_new = !named;
	if (!named)
		options->new_file =
			recording_unused_path(options->is_system_wide ? 0 : visit->pids[0],
					      visit->own_path, sizeof(visit->own_path), err);
	return !named && options->new_file < 0 ? options->new_file : 0;
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

static bool has_gpu_metrics(const struct record_values *values)
{
	return values->gpu_metrics || values->has_pm || values->pm_metrics;
}

/* Counters of devices are read by an agent in the process. */
static int read_counters(const struct record_values *values, struct visit *visit,
			 struct recorder_options *options, struct err *err)
{
	struct counter_choice *choice = &visit->counters;
	bool is_alone = visit->pid_count <= 1 && !values->samples.children;
	int r;

	if (!values->counters.count && !has_gpu_metrics(values))
		return 0;
	r = values->counters.count
		    ? counter_choice_make(choice, values->counters.items, values->counters.count,
					  values->counter_interval_ns, err)
		    : counter_choice_make_gpus(choice, values->counter_interval_ns, err);
	if (r)
		return r;
	visit->counts = true;
	choice->options.has_gpus = has_gpu_metrics(values);
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
	visit->samples = !visit->traces || samples_are_asked_for(&values->samples);
	options->sampling = visit->samples ? &visit->sampling : NULL;
	if (!r)
		r = check_all(values, visit, err);
	if (!r)
		r = samples_options(&values->samples, &visit->sampling, err);
	visit->sampling.sampler.needs_stacks = true;
	if (!r)
		r = size_parse("--max-size", values->max_size, &visit->job.times.max_bytes, err);
	return r ? r : period_parse(values->period, &visit->period, err);
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
	r = choose_file(visit, options, err);
	visit->sampling.sampler.pid = visit->pids[0];
	options->pids = visit->pids;
	options->pid_count = visit->pid_count;
	options->has_children = values->samples.children;
	options->listener = visit_listener(visit);
	if (r)
		return r;
	r = recorder_open(&visit->recorder, options, err);
	if (r)
		return r;
	visit->shows_progress = isatty(STDERR_FILENO) && !values->is_json && !visit->launched;
	return record_finish(visit, record_visit(visit, err), err);
}

/* Samples load nothing into a process, so their scope needs no consent; traces do, and
 * --java-names has each virtual machine run a command. */
static int scope_settle(const struct visit *visit, struct recorder_options *options,
			struct err *err)
{
	const struct record_values *values = visit->values;
	bool touches = visit->loads_agent || values->samples.java_names;

	options->session.all_descendants = values->all_descendants;
	if (!values->samples.children || !touches)
		return 0;
	return scope_confirm(visit->pids, visit->pid_count, &options->session.all_descendants, err);
}

static int record_running(struct visit *visit, struct recorder_options *options, struct err *err)
{
	int r = visit->signals = ending_prepare(err);

	ending_outlive_pipes();
	return r < 0 ? r : record_make(visit, options, err);
}

static bool is_stopped(pid_t pid)
{
	struct process_status status;
	struct err ignored;

	return !status_read(pid, pid, &status, &ignored) && status.state == 'T';
}

/* It will be no more: nothing that is done to it would help. */
static void explain_stop(const char *name, struct err *err)
{
	err_set(err, err->code, "cannot trace '%s' from its beginning", name);
	err_why(err,
		"a signal (SIGSTOP, Ctrl-Z) stopped it before limpet had prepared it; it was not run");
	err_fix(err,
		"start it again, and do not stop it before limpet prints that it is recording");
	err_exit(err, EXIT_BUSY);
}

/* The program owns stdout; limpet's messages go to stderr. */
static int record_launched(char **command, struct launched *launched, struct visit *visit,
			   struct recorder_options *options, struct err *err)
{
	const struct launch *launch = &launched->launch;
	int r = launched_start(launched, command, visit->loads_agent, err);

	dup2(STDERR_FILENO, STDOUT_FILENO);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (r)
		return r;
	visit->launched = launched;
	visit->sampling.is_new = true;
	options->session.attach.doorstep = launch->doorstep;
	visit->pids[0] = launch->pid;
	visit->pid_count = 1;
	r = record_make(visit, options, err);
	if (r && !launch->is_let_go && is_stopped(launch->pid))
		explain_stop(command[0], err);
	launched_finish(launched);
	if (launch->is_let_go)
		print_end(launch, visit->values->is_json);
	else
		print(stderr, "the program was not run\n");
	return r;
}

static int visit_run(struct visit *visit, char **command, struct err *err)
{
	const struct record_values *values = visit->values;
	struct debuginfod debuginfod = { 0 };
	struct launched launched;
	struct recorder_options options = {
		.session.attach = { .force = values->force, .resumes = values->resumes },
		.session.is_strict = true,
		.version = LIMPET_VERSION,
	};
	int r = parse_values(values, &options, visit, err);

	if (!r)
		r = confirm_output(visit, err);
	if (!r && values->samples.debuginfod)
		r = samples_ask(&debuginfod, err);
	if (!r && !command)
		r = scope_settle(visit, &options, err);
	if (r)
		return r;
	note_what_stays(visit);
	if (values->is_watched)
		r = record_watched(visit, &options, err);
	else
		r = command ? record_launched(command, &launched, visit, &options, err)
			    : record_running(visit, &options, err);
	samples_tell_asked(&debuginfod);
	counter_choice_done(&visit->counters);
	return r;
}

static int refuse_both(struct err *err)
{
	err_set(err, -EINVAL, "both a process and a program to start are given");
	err_fix(err, "limpet record -p PID ..., or: limpet record ... -- CMD [ARGS]");
	return err_exit(err, EXIT_USAGE);
}

static int refuse_watching(struct err *err)
{
	err_set(err, -EINVAL, "--ui watches a process that runs");
	err_fix(err, "start the program, then: limpet record -p PID --ui");
	return err_exit(err, EXIT_USAGE);
}

/* The words after "--", a program and its arguments; NULL: there are none. */
static char **split_command(char **argv)
{
	while (*argv && strcmp(*argv, "--"))
		argv++;
	if (!*argv || !argv[1])
		return NULL;
	*argv = NULL;
	return argv + 1;
}

static enum exit_code record_run(char **argv)
{
	struct record_values values = RECORD_VALUES;
	struct visit visit = { .values = &values };
	struct err err = { 0 };
	char **command = split_command(argv);
	int operands = options_parse(record_options, argv, &values, &err);
	int r = operands < 0 ? operands : 0;

	if (!r && command && (values.pids.count || operands))
		r = refuse_both(&err);
	else if (!r && values.is_watched && (command || values.samples.is_system_wide))
		r = refuse_watching(&err);
	else if (!r && values.samples.is_system_wide)
		r = operands ? report_surplus(argv[0], &err) : 0;
	else if (!r && !command)
		r = operand_processes(&values.pids, argv, operands, visit.pids, &visit.pid_count,
				      &err);
	if (!r && visit_run(&visit, command, &err) && !err.code)
		err_set(&err, -EIO, "it failed without saying why");
	return report_end("record", values.is_json, &err);
}

const struct command command_record = {
	.name = "record",
	.summary = "record samples and traces of a running process, or of a program it starts",
	.usage =
		"{-p PID... | -a | -- CMD [ARGS]} [-o FILE] [--duration TIME] [-F HZ] [--off-cpu] [--children] [--alloc-trace] [--io-trace] [--lock-trace] [--syscall-trace] [--marker-trace] [--sys-trace] [--opencl-trace] [--counters NAMES] [--function LIB:SYMBOL]",
	.options = record_options,
	.run = record_run,
	.notes =
		"Without a trace it samples: what every thread does, 99 times a second.  With traces it\n"
		"samples too when -F, --off-cpu or --sampler is given; --counters changes nothing of that.\n"
		"With --children, and with several -p, all processes are in the one file.  With -a every\n"
		"process of the machine is, but for limpet itself; with -- CMD as long as that program runs.\n"
		"\n"
		"Stops at Enter, Ctrl-C, SIGTERM, the duration, the size, or the end of the process.\n"
		"A second Ctrl-C gives up writing what is left, but still detaches; what takes longer than\n"
		"a second is left where it is.\n"
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
