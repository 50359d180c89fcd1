/*
 * limpet record: sample and trace a running process, or one that it starts, into a file, until
 * asked to stop.
 */
#include "host/cli/command.h"
#include "host/cli/ending.h"
#include "host/cli/operand.h"
#include "host/cli/record_words.h"
#include "host/cli/report.h"
#include "host/cli/size.h"
#include "host/cli/trace_sets.h"
#include "host/cli/version.h"
#include "host/core/clock.h"
#include "host/process/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GLANCE_NS 100000000ull
#define FOLLOW_NS 1000000ull

#define FIELD(name) offsetof(struct record_values, name)

#define TRACES(letter, name, domains, help)                                           \
	{                                                                             \
		letter, name, NULL, help, OPTION_BITS, FIELD(domains_traced), domains \
	}

static const struct option_desc record_options[] = {
	{ 'p', "pid", "PID", "the process", OPTION_TEXT, FIELD(pid) },
	{ 'o', "output", "FILE", "the recording (default: limpet-PID.limpet)", OPTION_TEXT,
	  FIELD(output) },
	{ 'd', "duration", "TIME", "stop after TIME (500, 500ms, 2s, 1m)", OPTION_DURATION,
	  FIELD(duration_ns) },
	{ 'F', "frequency", "HZ", "samples a second, 1 to 5000 (default: 99; without traces)",
	  OPTION_NUMBER, FIELD(samples.hz) },
	{ 'e', "event", "NAME",
	  "what is counted: cpu-clock, or cycles where the processor counts them", OPTION_TEXT,
	  FIELD(samples.event) },
	{ 0, "off-cpu", NULL, "also samples of waiting threads: where, and how long", OPTION_FLAG,
	  FIELD(samples.off_cpu) },
	{ 'C', "children", NULL, "samples of its descendants too, also of those born meanwhile",
	  OPTION_FLAG, FIELD(samples.children) },
	{ 0, "sampler", "NAME", "only this way to sample: bpf, copy, read or state", OPTION_TEXT,
	  FIELD(samples.sampler) },
	{ 0, "java-names", NULL, "ask a Java virtual machine for the names of its code (JDK 17)",
	  OPTION_FLAG, FIELD(samples.java_names) },
	{ 0, "debuginfod", NULL, "ask the servers of DEBUGINFOD_URLS for debug files", OPTION_FLAG,
	  FIELD(samples.debuginfod) },
	TRACES(0, "alloc-trace", DOMAIN_BIT(ALLOC), "malloc and its family, new and delete, mmap"),
	{ 0, "alloc-stacks", NULL, "with the call stack of every allocation", OPTION_FLAG,
	  FIELD(alloc_stacks) },
	{ 0, "alloc-sample", "SIZE",
	  "samples, one in SIZE bytes on average, with call stacks (512K)", OPTION_TEXT,
	  FIELD(alloc_sample) },
	TRACES(0, "io-trace", DOMAIN_BIT(IO),
	       "read, write, send, open, fsync, stdio and their like"),
	TRACES(0, "lock-trace", DOMAIN_BIT(LOCK),
	       "waits for mutexes, rwlocks, conditions, semaphores"),
	{ 0, "lock-all", NULL, "also locks that nobody held", OPTION_FLAG, FIELD(all_locks) },
	{ 0, "function", "LIB:SYMBOL", "any imported function, with * and ?; repeatable",
	  OPTION_LIST, FIELD(functions) },
	TRACES('s', "sys-trace", SET_SYSTEM, "all of GPU runtimes: what follows"),
	TRACES('r', "runtime-trace", SET_RUNTIME, "the same without HSA and HIP's compiler"),
	TRACES(0, "opencl-trace", DOMAIN_BIT(OPENCL),
	       "calls of OpenCL; alone also what its devices do"),
	{ 0, "opencl-device-time", NULL,
	  "with the devices' own times, by queues beside the program's", OPTION_FLAG,
	  FIELD(opencl_device_time) },
#include "host/session/gpu_traces.def"
	{ 0, "max-size", "SIZE", "stop when the file has this size (100M)", OPTION_TEXT,
	  FIELD(max_size) },
	{ 0, "ring-size", "SIZE", "memory for each thread's records (1M; for devices 4M)",
	  OPTION_TEXT, FIELD(ring_size) },
	{ 0, "collection-period", "DELAY:TIME:REPEAT",
	  "record TIME after DELAY, REPEAT times (0: for ever)", OPTION_TEXT, FIELD(period) },
	{ 'u', "unload", NULL, "take everything along when leaving", OPTION_FLAG, FIELD(unload) },
	{ 'f', "force", NULL, "go on where seccomp filters cannot be read", OPTION_FLAG,
	  FIELD(force) },
	{ 'c', "cont", NULL, "continue a process that job control stopped", OPTION_FLAG,
	  FIELD(resumes) },
	{ 'j', "json", NULL, "one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

/* Device times of nothing are meant to be those of OpenCL. */
static uint32_t read_domains(const struct record_values *values)
{
	uint32_t with_times = DOMAIN_BIT(OPENCL) | DOMAIN_BIT(KERNEL) | DOMAIN_BIT(COPY);
	bool is_alone = values->opencl_device_time && !(values->domains_traced & with_times);

	return values->domains_traced | (is_alone ? DOMAIN_BIT(OPENCL) : 0);
}

static int read_trace_options(const struct record_values *values, struct trace_options *ret,
			      struct err *err)
{
	*ret = (struct trace_options){
		.domains = read_domains(values),
		.opencl_device_time = values->opencl_device_time,
		.alloc_stacks = values->alloc_stacks,
		.all_locks = values->all_locks,
		.functions = values->functions.items,
		.function_count = values->functions.count,
	};
	if (size_parse("--alloc-sample", values->alloc_sample, &ret->alloc_sample, err) ||
	    size_parse("--ring-size", values->ring_size, &ret->ring_size, err))
		return err->code;
	return 0;
}

/* A file that is there keeps its name unless it was named. */
static const char *choose_path(const struct record_values *values, pid_t pid, char *room,
			       size_t size)
{
	if (values->output)
		return values->output;
	recording_unused_path(pid, room, size);
	return room;
}

static void show_sample_progress(struct visit *self, uint64_t seconds)
{
	struct sampling_totals totals;

	sampling_totals(recorder_sampling(self->recorder), &totals);
	fprintf(stderr,
		"\r%02" PRIu64 ":%02" PRIu64 "  %" PRIu64 " samples  %" PRIu64 " lost  %" PRIu64
		" KiB ",
		seconds / 60, seconds % 60, totals.counts.samples, totals.counts.lost,
		recorder_file_bytes(self->recorder) / 1024);
}

static void show_progress(struct visit *self)
{
	uint64_t seconds = (now_ns() - self->begin_ns) / 1000000000u;
	struct collect_totals totals;

	if (!self->shows_progress)
		return;
	recorder_totals(self->recorder, &totals);
	if (self->samples)
		show_sample_progress(self, seconds);
	if (!self->traces)
		return;
	fprintf(stderr,
		"\r%02" PRIu64 ":%02" PRIu64 "  %" PRIu64 " records  %" PRIu64 " dropped  %" PRIu64
		" KiB ",
		seconds / 60, seconds % 60, totals.records, all_drops(&totals),
		recorder_file_bytes(self->recorder) / 1024);
}

/* A family ends with its last process. */
static enum ending wait_for(struct visit *self, uint64_t time_ns)
{
	struct sampling *sampling = recorder_sampling(self->recorder);
	bool has_family = sampling && self->sampling.sampler.children;
	enum ending ending;

	if (self->launched)
		return launched_watch(self->launched, recorder_socket(self->recorder), time_ns);
	ending = ending_wait(self->signals, has_family ? -1 : recorder_pidfd(self->recorder),
			     time_ns);
	if (ending == ENDING_DURATION && has_family && sampling_has_ended(sampling))
		return ENDING_EXIT;
	return ending;
}

/* Stays for so long, or until something ends it all. */
static int stay(struct visit *self, uint64_t time_ns, struct err *err)
{
	uint64_t end_ns = time_ns == UINT64_MAX ? UINT64_MAX : now_ns() + time_ns;
	uint64_t limit_ns = self->values->duration_ns == UINT64_MAX
				    ? UINT64_MAX
				    : self->begin_ns + self->values->duration_ns;

	while (!self->is_over && now_ns() < end_ns) {
		int r = recorder_check(self->recorder, err);
		uint64_t glance_ns = recorder_is_following(self->recorder) ? FOLLOW_NS : GLANCE_NS;
		uint64_t slice_ns = MIN(glance_ns, MIN(end_ns, limit_ns) - now_ns());

		self->is_full =
			self->max_bytes && recorder_file_bytes(self->recorder) >= self->max_bytes;
		if (r || self->is_full || now_ns() >= limit_ns) {
			self->is_over = true;
			return r;
		}
		self->ending = wait_for(self, slice_ns);
		self->is_over = self->ending != ENDING_DURATION;
		tell_program(self);
		show_progress(self);
	}
	return 0;
}

/* Its time counts from here. */
static int let_begin(struct visit *self, struct err *err)
{
	if (!self->launched || self->launched->launch.is_let_go)
		return 0;
	self->begin_ns = now_ns();
	return launch_let_go(&self->launched->launch, err);
}

/* One turn of the period: in, stay, out. */
static int record_once(struct visit *self, struct err *err)
{
	struct session_left left = { 0 };
	struct err second = { 0 };
	int r = recorder_begin(self->recorder, err), left_well;

	if (!r)
		r = let_begin(self, err);
	if (r)
		return r;
	if (!self->period.done++) {
		print_attached(self);
		warn_absent(self);
		if (self->samples)
			samples_explain(recorder_sampling(self->recorder));
	}
	r = stay(self, self->period.time_ns, err);
	left_well = recorder_pause(self->recorder, self->values->unload, &left, r ? &second : err);
	for (size_t i = 0; i < left.count; i++)
		fprintf(stderr, "warning: stays: %s\n", left.items[i]);
	return r ? r : left_well;
}

static int record_all(struct visit *self, struct err *err)
{
	int r = 0;

	self->begin_ns = now_ns();
	while (!r && !self->is_over && period_goes_on(&self->period)) {
		if (self->period.delay_ns && !(r = let_begin(self, err)))
			r = stay(self, self->period.delay_ns, err);
		if (!r && !self->is_over)
			r = record_once(self, err);
	}
	if (self->shows_progress)
		fputc('\n', stderr);
	return r;
}

static int judge_records(const struct visit *self, const struct collect_totals *totals,
			 struct err *err)
{
	warn_work_left(&self->left);
	warn_queues(&self->queues);
	warn_drops(totals);
	if (totals->records)
		return 0;
	err_set(err, -ENODATA, "nothing was recorded");
	err_why(err,
		self->period.done
			? "no traced function was called, or none ended, while limpet was there"
			: "it was stopped before the first period began");
	err_fix(err, "record for longer, or trace something else (--function)");
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

/* One of both is enough; what is missing is said all the same. */
static int judge(const struct visit *self, const struct outcome *outcome, struct err *err)
{
	struct err no_samples = { 0 }, no_records = { 0 };
	int samples = self->samples ? samples_judge(&outcome->sampled, &self->sampling,
						    self->ending == ENDING_EXIT, &no_samples)
				    : -ENODATA;
	int records = self->traces ? judge_records(self, &outcome->totals, &no_records) : -ENODATA;

	if (samples && records) {
		*err = self->samples ? no_samples : no_records;
		return err->code;
	}
	if (no_samples.code || no_records.code)
		fprintf(stderr, "warning: %s: %s\n",
			no_samples.code ? no_samples.what : no_records.what,
			no_samples.code ? no_samples.why : no_records.why);
	return 0;
}

static bool is_asked_again(int signals)
{
	return ending_wait(signals, -1, 0) == ENDING_SIGNAL;
}

static void note_samples(const struct visit *self, struct outcome *ret)
{
	struct sampling *sampling = recorder_sampling(self->recorder);

	if (!sampling)
		return;
	sampling_totals(sampling, &ret->sampled);
	snprintf(ret->reasons, sizeof(ret->reasons), "%s", sampling_reasons(sampling));
}

static int finish(struct visit *self, int r, struct err *err)
{
	bool gives_up = self->ending == ENDING_SIGNAL && is_asked_again(self->signals);
	struct outcome outcome = { 0 };
	struct err second = { 0 };
	struct stat file;
	int end;

	warn_unfollowed(self->recorder);
	warn_notes(self->recorder);
	self->left = recorder_work_left(self->recorder);
	recorder_words(self->recorder, &outcome.words);
	recorder_queues(self->recorder, &self->queues);
	end = gives_up ? 0 : recorder_finish(self->recorder, r ? &second : err);
	note_samples(self, &outcome);
	if (recorder_end(self->recorder, gives_up, &outcome.totals, r || end ? &second : err) &&
	    !end)
		end = r ? second.code : err->code;

	if (gives_up)
		fprintf(stderr,
			"warning: given up at the second signal: the last records are missing\n");
	if (self->period.done) {
		outcome.bytes = stat(self->path, &file) ? 0 : (uint64_t)file.st_size;
		print_totals(self, &outcome);
		fflush(stdout); /* a program that was started may go on for long */
		warn_words(&outcome.words);
	}
	return r ? r : end ? end : judge(self, &outcome, err);
}

static int parse_values(const struct record_values *values, struct recorder_options *options,
			struct visit *visit, struct err *err)
{
	int r = read_trace_options(values, &options->trace, err);

	visit->traces = trace_domains(&options->trace);
	visit->samples = !visit->traces || samples_are_asked_for(&values->samples);
	options->sampling = visit->samples ? &visit->sampling : NULL;
	if (!r)
		r = samples_options(&values->samples, &visit->sampling, err);
	if (!r)
		r = size_parse("--max-size", values->max_size, &visit->max_bytes, err);
	return r ? r : period_parse(values->period, &visit->period, err);
}

static int record(pid_t pid, struct visit *visit, struct recorder_options *options, struct err *err)
{
	const struct record_values *values = visit->values;
	char room[64];
	int r;

	visit->pid = visit->sampling.sampler.pid = pid;
	options->path = visit->path = choose_path(values, pid, room, sizeof(room));
	r = recorder_open(&visit->recorder, pid, options, err);
	if (r)
		return r;
	visit->shows_progress = isatty(STDERR_FILENO) && !values->is_json && !visit->launched;
	return finish(visit, record_all(visit, err), err);
}

static int record_running(pid_t pid, struct visit *visit, struct recorder_options *options,
			  struct err *err)
{
	int r = visit->signals = ending_prepare(err);

	ending_outlive_pipes();
	return r < 0 ? r : record(pid, visit, options, err);
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
		"it was stopped (SIGSTOP, Ctrl-Z) before it had begun, and could not be prepared; "
		"it was not run");
	err_fix(err, "start it again; stop it when limpet says that it is recording");
	err_exit(err, EXIT_BUSY);
}

/* The program keeps the output; what we have to say goes where errors go. */
static int record_launched(char **command, struct visit *visit, struct recorder_options *options,
			   struct err *err)
{
	struct launched launched;
	int r = launched_start(&launched, command, err);

	dup2(STDERR_FILENO, STDOUT_FILENO);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (r)
		return r;
	visit->launched = &launched;
	visit->sampling.is_new = true;
	options->session.attach.doorstep = launched.launch.doorstep;
	r = record(launched.launch.pid, visit, options, err);
	if (r && !launched.launch.is_let_go && is_stopped(launched.launch.pid))
		explain_stop(command[0], err);
	launched_finish(&launched);
	if (launched.launch.is_let_go)
		print_end(&launched.launch, visit->values->is_json);
	else
		fprintf(stderr, "the program was not run\n");
	return r;
}

static int run(const struct record_values *values, pid_t pid, char **command, struct err *err)
{
	struct visit visit = { .values = values, .ending = ENDING_DURATION };
	struct debuginfod debuginfod = { 0 };
	struct recorder_options options = {
		.session.attach = { .force = values->force, .resumes = values->resumes },
		.session.is_strict = true,
		.version = LIMPET_VERSION,
	};
	int r = parse_values(values, &options, &visit, err);

	if (!r && values->samples.debuginfod)
		r = samples_ask(&debuginfod, err);
	if (r)
		return r;
	r = command ? record_launched(command, &visit, &options, err)
		    : record_running(pid, &visit, &options, err);
	samples_tell_asked(&debuginfod);
	return r;
}

static int refuse_both(struct err *err)
{
	err_set(err, -EINVAL, "a process and a program to start are both named");
	err_fix(err, "limpet record -p PID ..., or: limpet record ... -- CMD [ARGS]");
	return err_exit(err, EXIT_USAGE);
}

/* What follows "--" is a program and what it is given; NULL: there is no such thing. */
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
	struct record_values values = { .duration_ns = UINT64_MAX, .samples.hz = HZ_NOT_GIVEN };
	struct err err = { 0 };
	char **command = split_command(argv);
	int operands = options_parse(record_options, argv, &values, &err);
	char *named[] = { (char *)(uintptr_t)values.pid, NULL };
	pid_t pid = 0;
	int r = operands < 0 ? operands : 0;

	if (!r && command && (values.pid || operands))
		r = refuse_both(&err);
	else if (!r && values.pid && operands)
		r = report_surplus(argv[0], &err);
	else if (!r && !command)
		r = operand_pid(values.pid ? named : argv, values.pid ? 1 : operands, &pid, &err);
	if (!r && run(&values, pid, command, &err) && !err.code)
		err_set(&err, -EIO, "it failed without saying why");
	return report_end("record", values.is_json, &err);
}

const struct command command_record = {
	.name = "record",
	.summary = "sample and trace a running process, or a program that it starts, into a file",
	.usage =
		"{-p PID | -- CMD [ARGS]} [-o FILE] [--duration TIME] [-F HZ] [--off-cpu] [--children] [--alloc-trace] [--io-trace] [--lock-trace] [--marker-trace] [--sys-trace] [--opencl-trace] [--function LIB:SYMBOL]",
	.options = record_options,
	.run = record_run,
	.notes =
		"Without a trace it samples: what every thread does, 99 times a second.  With traces it\n"
		"samples too when -F, --off-cpu, --children or --sampler is given; calls are traced in the\n"
		"one process only.\n"
		"\n"
		"Stops at Enter, Ctrl-C, SIGTERM, the duration, the size, or the end of the process.\n"
		"A second Ctrl-C gives up writing what is left, but still detaches.\n"
		"With -- CMD the program is recorded from its first call; it gets the terminal and\n"
		"the signals, and limpet ends when it does, with an exit code of its own.\n"
		"\n"
		"examples:\n"
		"  limpet record -p 4711 --duration 10s\n"
		"  limpet record -p 4711 -F 999 --off-cpu\n"
		"  limpet record -p 4711 --children\n"
		"  limpet record -p 4711 --alloc-trace --io-trace --duration 10s\n"
		"  limpet record -p 4711 --function 'libssl.so:SSL_*' -o tls.limpet\n"
		"  limpet record -p 4711 --hip-trace --kernel-trace --memory-copy-trace\n"
		"  limpet record -- ./program argument\n"
		"  limpet record --alloc-trace -o it.limpet -- ./program argument\n"
		"  limpet report tls.limpet\n",
};
