/*
 * limpet record: sample and trace a running process into a file, until asked to stop.
 */
#include "host/cli/command.h"
#include "host/cli/ending.h"
#include "host/cli/operand.h"
#include "host/cli/period.h"
#include "host/cli/printable.h"
#include "host/cli/record_samples.h"
#include "host/cli/report.h"
#include "host/cli/size.h"
#include "host/cli/trace_sets.h"
#include "host/cli/version.h"
#include "host/core/clock.h"
#include "host/model/domains.h"
#include "host/process/procfs.h"
#include "host/recorder/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GLANCE_NS 100000000ull

struct record_values {
	uint32_t domains_traced;
	bool alloc_stacks, all_locks;
	bool unload, force, resumes, is_json;
	struct option_list functions;
	const char *pid, *output, *alloc_sample, *max_size, *ring_size, *period;
	uint64_t duration_ns;
	struct sample_words samples;
};

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
	{ 0, "off-cpu", NULL, "also samples of waiting threads: where, and how long", OPTION_FLAG,
	  FIELD(samples.off_cpu) },
	{ 0, "sampler", "NAME", "only this way to sample: bpf, copy, read or state", OPTION_TEXT,
	  FIELD(samples.sampler) },
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
#include "host/session/gpu_traces.def"
	{ 0, "max-size", "SIZE", "stop when the file has this size (100M)", OPTION_TEXT,
	  FIELD(max_size) },
	{ 0, "ring-size", "SIZE", "memory for each thread's records (1M)", OPTION_TEXT,
	  FIELD(ring_size) },
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

/* One recording under way. */
struct visit {
	const struct record_values *values;
	struct recorder *recorder;
	const char *path;
	struct period period;
	uint64_t max_bytes, begin_ns;
	int signals;
	pid_t pid;
	enum ending ending;
	bool is_over, is_full, shows_progress;
	struct work_left left;
	struct sampling_options sampling;
	bool samples, traces;
};

static int read_trace_options(const struct record_values *values, struct trace_options *ret,
			      struct err *err)
{
	*ret = (struct trace_options){
		.domains = values->domains_traced,
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
	snprintf(room, size, "limpet-%d.limpet", pid);
	for (unsigned i = 2; access(room, F_OK) == 0 && i < 1000; i++)
		snprintf(room, size, "limpet-%d-%u.limpet", pid, i);
	return room;
}

static uint64_t all_drops(const struct collect_totals *totals)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < DROP_REASONS; i++)
		sum += totals->drops[i];
	return sum;
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

/* Stays for so long, or until something ends it all. */
static int stay(struct visit *self, uint64_t time_ns, struct err *err)
{
	int pidfd = recorder_pidfd(self->recorder);
	uint64_t end_ns = time_ns == UINT64_MAX ? UINT64_MAX : now_ns() + time_ns;
	uint64_t limit_ns = self->values->duration_ns == UINT64_MAX
				    ? UINT64_MAX
				    : self->begin_ns + self->values->duration_ns;

	while (!self->is_over && now_ns() < end_ns) {
		uint64_t slice_ns = MIN(GLANCE_NS, MIN(end_ns, limit_ns) - now_ns());
		int r = recorder_check(self->recorder, err);

		self->is_full =
			self->max_bytes && recorder_file_bytes(self->recorder) >= self->max_bytes;
		if (r || self->is_full || now_ns() >= limit_ns) {
			self->is_over = true;
			return r;
		}
		self->ending = ending_wait(self->signals, pidfd, slice_ns);
		self->is_over = self->ending != ENDING_DURATION;
		show_progress(self);
	}
	return 0;
}

static void warn_absent(const struct visit *self)
{
	uint32_t absent = recorder_absent(self->recorder);

	for (unsigned i = 0; i < DOMAINS; i++) {
		const char *why = recorder_note(self->recorder, i);

		if (absent & 1u << i)
			fprintf(stderr, "warning: nothing to trace for %s in this process%s%s\n",
				domain_name(i), why ? ": " : "", why ? why : "");
		else if (why)
			fprintf(stderr, "warning: not all of %s is traced: %s\n", domain_name(i),
				why);
	}
}

static void warn_work_left(const struct work_left *left)
{
	if (left->cut)
		fprintf(stderr,
			"warning: %" PRIu32
			" commands were not done by the devices 2 s after the end; "
			"they are not in the recording\n",
			left->cut);
	if (left->lost)
		fprintf(stderr,
			"warning: %" PRIu32
			" commands could not be followed to their end: too many at once\n",
			left->lost);
}

static void print_attached(const struct visit *self)
{
	const struct session *session = recorder_session(self->recorder);
	struct json json = { .out = stdout };
	char how[96] = "", name[32] = "";
	char shown[NAME_MAX_SHOWN];
	struct err ignored;

	if (proc_read_small(self->pid, "comm", name, sizeof(name), &ignored) > 0)
		name[strcspn(name, "\n")] = '\0';
	if (self->samples)
		samples_describe(recorder_sampling(self->recorder), &self->sampling, how,
				 sizeof(how));
	if (!self->values->is_json) {
		fprintf(stderr, "recording %d (%s)%s%s into %s; Enter or Ctrl-C stops\n", self->pid,
			printable(name, shown), how[0] ? " " : "", how, self->path);
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "attached");
	json_signed(&json, "pid", self->pid);
	json_text(&json, "file", self->path);
	if (session)
		json_number(&json, "pause_ns", session->attachment.report.pause_ns);
	json_text(&json, "sampling", how);
	json_object_end(&json);
	fflush(stdout);
}

/* One turn of the period: in, stay, out. */
static int record_once(struct visit *self, struct err *err)
{
	struct session_left left = { 0 };
	struct err second = { 0 };
	int r = recorder_begin(self->recorder, err), left_well;

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
		if (self->period.delay_ns)
			r = stay(self, self->period.delay_ns, err);
		if (!r && !self->is_over)
			r = record_once(self, err);
	}
	if (self->shows_progress)
		fputc('\n', stderr);
	return r;
}

/* What a recording came to. */
struct outcome {
	struct collect_totals totals;
	struct trace_words words;
	struct sampling_totals sampled;
	char reasons[2048]; /* why no better sampler */
	uint64_t bytes;
};

static void print_words(struct json *json, const struct trace_words *words)
{
	json_number(json, "words_hooked", words->hooked);
	json_number(json, "words_restored", words->restored);
	json_number(json, "words_foreign", words->foreign);
	json_number(json, "words_unwritable", words->unwritable);
	json_number(json, "words_refused", words->refused);
}

static void print_for_people(const struct visit *self, const struct outcome *outcome)
{
	const struct collect_totals *totals = &outcome->totals;

	if (self->traces)
		printf("wrote %s: %" PRIu64 " records of %" PRIu64 " threads, %" PRIu64
		       " dropped, %" PRIu64 " KiB\n",
		       self->path, totals->records, totals->threads, all_drops(totals),
		       outcome->bytes / 1024);
	if (self->samples)
		samples_print(&outcome->sampled, self->path, outcome->bytes);
	printf("next: limpet report %s\n", self->path);
	if (self->samples)
		printf("      limpet export %s -f flamegraph\n", self->path);
}

static void print_totals(const struct visit *self, const struct outcome *outcome)
{
	const struct collect_totals *totals = &outcome->totals;
	struct json json = { .out = stdout };

	if (!self->values->is_json) {
		print_for_people(self, outcome);
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "recorded");
	json_text(&json, "file", self->path);
	json_text(&json, "reason", self->is_full ? "max-size" : ending_name(self->ending));
	json_number(&json, "records", totals->records);
	json_number(&json, "threads", totals->threads);
	json_number(&json, "dropped_full", totals->drops[DROP_FULL]);
	json_number(&json, "dropped_nested", totals->drops[DROP_NESTED]);
	json_number(&json, "dropped_no_ring", totals->drops[DROP_NO_RING]);
	json_number(&json, "invalid", totals->invalid);
	json_number(&json, "work_cut", self->left.cut);
	json_number(&json, "work_lost", self->left.lost);
	json_number(&json, "bytes", outcome->bytes);
	print_words(&json, &outcome->words);
	if (self->samples)
		samples_print_json(&json, &outcome->sampled, outcome->reasons);
	json_object_end(&json);
}

static void warn_words(const struct trace_words *words)
{
	if (words->foreign)
		fprintf(stderr,
			"warning: %u words of imports were changed by somebody else meanwhile: left so\n",
			words->foreign);
	if (words->unwritable + words->refused)
		fprintf(stderr,
			"warning: calls through %u words of imports were not seen: %u cannot be written, %u are too many\n",
			words->unwritable + words->refused, words->unwritable, words->refused);
}

static int judge_records(const struct visit *self, const struct collect_totals *totals,
			 struct err *err)
{
	warn_work_left(&self->left);
	if (all_drops(totals))
		fprintf(stderr,
			"warning: %" PRIu64 " records were dropped; --ring-size gives more room\n",
			all_drops(totals));
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
	int samples = self->samples ? samples_judge(&outcome->sampled, &self->sampling, &no_samples)
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

	self->left = recorder_work_left(self->recorder);
	recorder_words(self->recorder, &outcome.words);
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
		warn_words(&outcome.words);
	}
	return r ? r : end ? end : judge(self, &outcome, err);
}

static int record(pid_t pid, const struct record_values *values, struct err *err)
{
	struct visit visit = { .values = values, .pid = pid, .ending = ENDING_DURATION };
	struct recorder_options options = {
		.session.attach = { .force = values->force, .resumes = values->resumes },
		.session.is_strict = true,
		.version = LIMPET_VERSION,
	};
	char room[64];
	int r = read_trace_options(values, &options.trace, err);

	visit.traces = trace_domains(&options.trace);
	visit.samples = !visit.traces || samples_are_asked_for(&values->samples);
	if (!r)
		r = samples_options(&values->samples, pid, &visit.sampling, err);
	options.sampling = visit.samples ? &visit.sampling : NULL;
	if (!r)
		r = size_parse("--max-size", values->max_size, &visit.max_bytes, err);
	if (!r)
		r = period_parse(values->period, &visit.period, err);
	if (!r)
		r = visit.signals = ending_prepare(err);
	options.path = visit.path = choose_path(values, pid, room, sizeof(room));
	if (r >= 0)
		r = recorder_open(&visit.recorder, pid, &options, err);
	if (r)
		return r;
	visit.shows_progress = isatty(STDERR_FILENO) && !values->is_json;
	return finish(&visit, record_all(&visit, err), err);
}

static enum exit_code record_run(char **argv)
{
	struct record_values values = { .duration_ns = UINT64_MAX, .samples.hz = HZ_NOT_GIVEN };
	struct err err = { 0 };
	int operands = options_parse(record_options, argv, &values, &err);
	char *named[] = { (char *)(uintptr_t)values.pid, NULL };
	pid_t pid = 0;

	if (operands >= 0 && values.pid && operands)
		report_surplus(argv[0], &err);
	else if (operands >= 0 &&
		 !operand_pid(values.pid ? named : argv, values.pid ? 1 : operands, &pid, &err))
		if (record(pid, &values, &err) && !err.code)
			err_set(&err, -EIO, "it failed without saying why");
	return report_end("record", values.is_json, &err);
}

const struct command command_record = {
	.name = "record",
	.summary = "sample and trace a running process into a file",
	.usage =
		"-p PID [-o FILE] [--duration TIME] [-F HZ] [--off-cpu] [--alloc-trace] [--io-trace] [--lock-trace] [--marker-trace] [--sys-trace] [--opencl-trace] [--function LIB:SYMBOL]",
	.options = record_options,
	.run = record_run,
	.notes =
		"Without a trace it samples: what every thread does, 99 times a second.  With traces it\n"
		"samples too when -F, --off-cpu or --sampler is given.\n"
		"\n"
		"Stops at Enter, Ctrl-C, SIGTERM, the duration, the size, or the end of the process.\n"
		"A second Ctrl-C gives up writing what is left, but still detaches.\n"
		"\n"
		"examples:\n"
		"  limpet record -p 4711 --duration 10s\n"
		"  limpet record -p 4711 -F 999 --off-cpu\n"
		"  limpet record -p 4711 --alloc-trace --io-trace --duration 10s\n"
		"  limpet record -p 4711 --function 'libssl.so:SSL_*' -o tls.limpet\n"
		"  limpet record -p 4711 --hip-trace --kernel-trace --memory-copy-trace\n"
		"  limpet report tls.limpet\n",
};
