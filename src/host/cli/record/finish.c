/*
 * The end of limpet record: the contents of the file, what is missing, and whether that suffices.
 */
#include "host/cli/record/visit.h"

#include "host/cli/common/progress.h"
#include "host/cli/common/stack_ends.h"
#include "host/core/cleanup.h"
#include "host/core/self/interrupt.h"
#include "host/core/text/json.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/domains.h"
#include "host/model/statistics.h"
#include "host/recording/facts.h"

#include <errno.h>
#include <unistd.h>

struct outcome {
	struct recorder_outcome recorded;
	struct sampling_totals sampled;
};

/* In hundredths of a percent, as reports have it. */
static uint64_t complete_share(const struct sampler_counts *counts)
{
	return share_of(counts->ends[STACK_COMPLETE], counts->samples);
}

static void print_samples(const struct visit *self, const struct outcome *outcome)
{
	const struct sampling_totals *sampled = &outcome->sampled;
	const struct recorded_contents *written = &outcome->recorded.written;
	const struct stack_ends ends = sampling_ends(sampled, self->values->samples.is_system_wide);

	print(stdout,
	      "wrote %s: %lu sample%s of %lu thread%s, %lu lost, %.2f %% of the stacks complete, "
	      "%lu KiB\n",
	      self->path, written->samples, plural(written->samples), sampled->threads,
	      plural(sampled->threads), sampled->counts.lost,
	      (double)complete_share(&sampled->counts) / 100, written->bytes / 1024);
	print(stdout, "sampler: %s (%s)\n", sampled->sampler, sampled->summary);
	stack_ends_print("incomplete", &ends, sampled->counts.samples / STACK_ENDS_WARN);
}

static void print_outcome(const struct visit *self, const struct outcome *outcome)
{
	const struct tracing_totals *totals = &outcome->recorded.totals;
	const struct recorded_contents *written = &outcome->recorded.written;
	char processes[48] = "";

	if (written->leaves_old_file) {
		print(stdout, "%s stays as it was\n", self->path);
		return;
	}
	if (visit_has_family(self))
		snprintf(processes, sizeof(processes), " in %lu process%s", totals->processes,
			 totals->processes == 1 ? "" : "es");
	if (self->traces)
		print(stdout, "wrote %s: %lu record%s of %lu thread%s%s, %lu dropped, %lu KiB\n",
		      self->path, written->records, plural(written->records),
		      totals->collected.threads, plural(totals->collected.threads), processes,
		      drops_sum(totals->collected.drops), written->bytes / 1024);
	if (self->samples)
		print_samples(self, outcome);
	if (self->counts)
		print(stdout, "wrote %s: %lu window%s of counters\n", self->path, written->windows,
		      plural(written->windows));
	if (self->replaces)
		print(stderr,
		      "note: %s was there already and is replaced; --overwrite for no note\n",
		      self->path);
	if (written->records || written->samples || written->windows)
		print(stdout, "next: limpet report %s\n", self->path);
	if (written->samples)
		print(stdout, "      limpet export %s -f flamegraph\n", self->path);
}

static void write_samples(struct json *json, const struct visit *self,
			  const struct outcome *outcome)
{
	const struct sampling_totals *sampled = &outcome->sampled;
	const struct stack_ends ends = sampling_ends(sampled, self->values->samples.is_system_wide);

	json_text(json, "sampler", sampled->sampler);
	json_text(json, "no_better_sampler", sampled->reasons);
	json_number(json, "samples", outcome->recorded.written.samples);
	json_number(json, "samples_lost", sampled->counts.lost);
	json_number(json, "code_left_out", sampled->counts.left_out);
	json_number(json, "samples_unlisted", sampled->counts.unlisted);
	json_number(json, "one_sample_in", MAX(sampled->counts.throttled, 1u));
	json_number(json, "sampled_threads", sampled->threads);
	json_number(json, "processes_seen", sampled->processes_seen);
	json_number(json, "processes_sampled", sampled->processes_sampled);
	json_fixed(json, "complete_percent", complete_share(&sampled->counts), 2);
	stack_ends_write(json, &ends);
	json_number(json, "frames", sampled->naming.frames);
	json_number(json, "frames_named", sampled->naming.named);
}

static void write_outcome(const struct visit *self, const struct outcome *outcome)
{
	const struct tracing_totals *totals = &outcome->recorded.totals;
	const struct recorded_contents *written = &outcome->recorded.written;
	struct json json = json_event(stdout, "recorded");

	json_text(&json, "file", self->path);
	json_text(&json, "reason", self->job.is_full ? "max-size" : ending_name(self->job.ending));
	json_number(&json, "records", written->records);
	json_number(&json, "threads", totals->collected.threads);
	if (visit_has_family(self)) {
		json_number(&json, "processes", totals->processes);
		json_number(&json, "processes_missed", totals->missed);
	}
	json_number(&json, "dropped_full", totals->collected.drops[DROP_FULL]);
	json_number(&json, "dropped_nested", totals->collected.drops[DROP_NESTED]);
	json_number(&json, "dropped_no_ring", totals->collected.drops[DROP_NO_RING]);
	json_number(&json, "dropped_no_counter", totals->collected.drops[DROP_NO_COUNTER]);
	json_number(&json, "invalid", totals->collected.invalid);
	json_number(&json, "work_cut", totals->left.cut);
	json_number(&json, "work_lost", totals->left.lost);
	json_number(&json, "work_unseen", totals->left.unseen);
	json_number(&json, "times_turned", totals->left.turned);
	json_number(&json, "syscalls_before", totals->syscalls_before);
	json_number(&json, "syscalls_under_way", totals->syscalls_under_way);
	if (self->values->runtime_flags[RUNTIME_OPTION_DEVICE_TIMES]) {
		json_number(&json, "queues_timed", totals->queues.timed);
		json_number(&json, "queues_estimated", totals->queues.estimated);
		json_number(&json, "queues_left", totals->queues.left);
	}
	if (self->counts)
		json_number(&json, "windows", written->windows);
	json_number(&json, "bytes", written->bytes);
	json_bool(&json, "leaves_old_file", written->leaves_old_file);
	json_number(&json, "words_hooked", totals->words.hooked);
	json_number(&json, "words_restored", totals->words.restored);
	json_number(&json, "words_foreign", totals->words.foreign);
	json_number(&json, "words_unwritable", totals->words.unwritable);
	json_number(&json, "words_refused", totals->words.refused);
	json_number(&json, "words_left", totals->words.left);
	if (self->samples)
		write_samples(&json, self, outcome);
	json_object_end(&json);
}

static void warn_entries(const struct trace_words *entries)
{
	print_counted(
		stderr, entries->foreign,
		"warning: # import entries were modified by another tool and left unchanged\n");
	if (entries->unwritable + entries->refused)
		print(stderr,
		      "warning: calls through %u import entries were not seen: %u cannot be written, %u are too many\n",
		      entries->unwritable + entries->refused, entries->unwritable,
		      entries->refused);
	if (entries->left)
		print(stderr,
		      "warning: calls through %u import entr%s are not traced: the program takes "
		      "addresses of functions from them, which a hook would change (%s%s in %s); "
		      "--address-entries hooks them anyway\n",
		      entries->left, entries->left == 1 ? "y" : "ies",
		      entries->left == 1 ? "" : "for example ", entries->left_function,
		      entries->left_module);
}

static void warn_work(const struct work_left *left, const struct trace_queues *queues)
{
	print_counted(
		stderr, left->cut,
		"warning: # command{|s} {was|were} not done by the devices 2 s after the end, "
		"and {is|are} not in the recording\n");
	print_counted(
		stderr, left->lost,
		"warning: # command{|s} could not be followed to the end: too many at once\n");
	print_counted(stderr, left->unseen,
		      "warning: # kernels and copies of HSA are not in the recording: the program "
		      "has not looked at their signals before the end\n");
	print_counted(stderr, left->turned,
		      "warning: # records end before they begin, because clocks of CPUs or devices "
		      "differ: they are recorded with a duration of 0\n");
	for (unsigned i = 0; i < queues->reason_count; i++)
		print(stderr, "warning: times of queues (%u in all) are estimated: %s\n",
		      queues->estimated, queues->reasons[i]);
	print_counted(
		stderr, queues->left,
		"warning: # of limpet's queues remain until the devices are done with them\n");
}

/* More room in the rings does not help records that could not be made. */
static void warn_lost(const struct tracing_totals *totals)
{
	uint64_t unmade = totals->collected.drops[DROP_NO_COUNTER];

	print_counted(
		stderr, unmade,
		"warning: up to # record{|s} {was|were} not made: the program forbids to read "
		"the machine's counter\n");
	print_counted(stderr, drops_sum(totals->collected.drops) - unmade,
		      "warning: # record{|s} {was|were} dropped; --ring-size gives more room\n");
	print_counted(
		stderr, totals->missed,
		"warning: # process{|es} ended before limpet had attached and {is|are} not in "
		"the recording\n");
	print_counted(
		stderr, totals->syscalls_before,
		"note: # system call{|s} began before the recording and {is|are} not in it\n");
	print_counted(
		stderr, totals->syscalls_under_way,
		"note: # system call{|s} had not returned at its end and {is|are} not in it\n");
}

static int judge_records(const struct visit *self, const struct recorder_outcome *outcome,
			 struct err *err)
{
	/* Domains that none of the started programs had. */
	for (unsigned i = 0; self->launched && i < DOMAINS; i++)
		if (self->domains & ~DOMAINS_BPF & ~self->domains_seen & 1u << i)
			print(stderr, "warning: nothing to trace for %s in the program%s\n",
			      domain_name(i), descendants_text(self));
	warn_work(&outcome->totals.left, &outcome->totals.queues);
	warn_lost(&outcome->totals);
	if (outcome->written.records)
		return 0;
	err_set(err, -ENODATA, "nothing was recorded");
	if (self->domains_held && !(self->domains & ~self->domains_held)) {
		err_why(err, "another profiler holds what every requested trace needs");
		err_fix(err,
			"try again when that profiler has ended, or add a trace that does not need it");
		return err_exit(err, EXIT_BUSY);
	}
	err_why(err,
		self->job.turns
			? "no traced function was called and returned while limpet was attached"
			: "it was stopped before the first period began");
	err_fix(err,
		outcome->totals.words.left
			? "add --address-entries: it also traces calls through entries whose address the program takes"
			: "record for longer, or trace something else (--function)");
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

static int judge_windows(const struct visit *self, const struct recorder_outcome *outcome,
			 struct err *err)
{
	if (outcome->written.windows)
		return 0;
	err_set(err, -ENODATA, "nothing was counted");
	err_why(err,
		self->counters.has_devices
			? "the process has not used the device's runtime (HSA), or its "
			  "counters could not be read"
			: "it ended, or limpet detached, before the first window was complete");
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

/* Samples, records or windows suffice; the kinds that are missing are warnings then. */
static int judge_outcome(const struct visit *self, const struct outcome *outcome, struct err *err)
{
	struct err missing[3] = { 0 }, *samples = &missing[0], *records = &missing[1];
	bool is_enough = self->samples && !samples_judge(&outcome->sampled, &self->sampling,
							 self->job.ending == ENDING_EXIT, samples);

	is_enough |= self->traces && !judge_records(self, &outcome->recorded, records);
	is_enough |= self->counts && !judge_windows(self, &outcome->recorded, &missing[2]);
	if (!is_enough) {
		*err = self->samples ? *samples : self->traces ? *records : missing[2];
		return err->code;
	}
	for (size_t i = 0; i < ARRAY_SIZE(missing); i++)
		if (missing[i].code)
			print(stderr, "warning: %s: %s\n", missing[i].what, missing[i].why);
	return 0;
}

int record_finish(struct visit *self, int r, struct err *err)
{
	bool gives_up = self->job.ending == ENDING_SIGNAL &&
			ending_wait(self->signals, -1, 0) == ENDING_SIGNAL;
	CLEANUP(progress_end) struct progress progress = { 0 };
	struct sampling *sampling = recorder_sampling(self->recorder);
	struct outcome outcome = { 0 };
	struct err second = { 0 };
	int end;

	/* A program that was started has had the signals until now, and its terminal is its own. */
	if (self->launched)
		close(interrupt_watch(/* before_end */ NULL, &second));
	else
		progress_begin(&progress, "finishing", self->path);
	end = gives_up ? 0 : recorder_finish(self->recorder, r ? &second : err);
	if (sampling) {
		sampling_totals(sampling, &outcome.sampled);
		print_sampler_reasons(self);
	}
	if (recorder_end(self->recorder, gives_up, &outcome.recorded, r || end ? &second : err) &&
	    !end)
		end = r ? second.code : err->code;
	recorder_free(self->recorder, /* keeps_files */ true);
	progress_end(&progress);

	if (gives_up)
		print(stderr,
		      "warning: stopped at the second signal: the last records are missing\n");
	if (self->job.turns) {
		(self->values->is_json ? write_outcome : print_outcome)(self, &outcome);
		fflush(stdout); /* a program that was started may go on for long */
		warn_entries(&outcome.recorded.totals.words);
	}
	return r ? r : end ? end : judge_outcome(self, &outcome, err);
}
