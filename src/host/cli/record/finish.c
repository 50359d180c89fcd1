/*
 * The end of limpet record: the contents of the file, what is missing, and whether that suffices.
 */
#include "host/cli/record/visit.h"

#include "host/cli/progress.h"
#include "host/cli/record/messages.h"
#include "host/core/cleanup.h"
#include "host/core/self/interrupt.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <stdio.h>

static const char *records_fix(const struct tracing_totals *totals)
{
	return totals->words.left
		       ? "add --address-entries: it also traces calls through entries whose address the program takes"
		       : "record for longer, or trace something else (--function)";
}

static int judge_records(const struct visit *self, const struct recorder_outcome *outcome,
			 struct err *err)
{
	warn_never_seen(self);
	warn_work_left(&outcome->totals.left);
	warn_queues(&outcome->totals.queues);
	warn_drops(&outcome->totals.collected);
	warn_missed(&outcome->totals);
	note_syscalls(&outcome->totals);
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
	err_fix(err, "%s", records_fix(&outcome->totals));
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

static int judge_windows(const struct visit *self, const struct recorder_outcome *outcome,
			 struct err *err)
{
	bool is_of_devices = self->counters.has_devices;

	if (outcome->written.windows)
		return 0;
	err_set(err, -ENODATA, "nothing was counted");
	err_why(err,
		is_of_devices
			? "the process has not used the device's runtime (HSA), or its "
			  "counters could not be read"
			: "it ended, or limpet detached, before the first window was complete");
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

static void warn_missing(const struct err *missing)
{
	if (missing->code)
		print(stderr, "warning: %s: %s\n", missing->what, missing->why);
}

/* One of them suffices; missing ones are reported all the same. */
static int record_finish_judge(const struct visit *self, const struct outcome *outcome,
			       struct err *err)
{
	struct err no_samples = { 0 }, no_records = { 0 }, no_windows = { 0 };
	int samples = self->samples ? samples_judge(&outcome->sampled, &self->sampling,
						    self->job.ending == ENDING_EXIT, &no_samples)
				    : -ENODATA;
	int records =
		self->traces ? judge_records(self, &outcome->recorded, &no_records) : -ENODATA;
	int windows =
		self->counts ? judge_windows(self, &outcome->recorded, &no_windows) : -ENODATA;

	if (samples && records && windows) {
		*err = self->samples ? no_samples : self->traces ? no_records : no_windows;
		return err->code;
	}
	warn_missing(&no_samples);
	warn_missing(&no_records);
	warn_missing(&no_windows);
	return 0;
}

static bool is_asked_again(int signals)
{
	return ending_wait(signals, -1, 0) == ENDING_SIGNAL;
}

static void note_samples(struct visit *self, struct outcome *ret)
{
	struct sampling *sampling = recorder_sampling(self->recorder);

	if (!sampling)
		return;
	sampling_totals(sampling, &ret->sampled);
	sampling_reasons(sampling, ret->reasons, sizeof(ret->reasons));
	samples_explain(sampling, self->told);
}

int record_finish(struct visit *self, int r, struct err *err)
{
	bool gives_up = self->job.ending == ENDING_SIGNAL && is_asked_again(self->signals);
	CLEANUP(progress_end) struct progress progress = { 0 };
	struct outcome outcome = { 0 };
	struct err second = { 0 };
	int end;

	/* A program that was started has had the signals until now. */
	if (self->launched)
		close(interrupt_watch(/* before_end */ NULL, &second));
	/* The terminal of a program that was started is its own. */
	if (!self->launched)
		progress_begin(&progress, "finishing", self->path);
	end = gives_up ? 0 : recorder_finish(self->recorder, r ? &second : err);
	note_samples(self, &outcome);
	if (recorder_end(self->recorder, gives_up, &outcome.recorded, r || end ? &second : err) &&
	    !end)
		end = r ? second.code : err->code;
	recorder_free(self->recorder, /* keeps_files */ true);
	progress_end(&progress);

	if (gives_up)
		print(stderr,
		      "warning: stopped at the second signal: the last records are missing\n");
	if (self->job.turns) {
		print_totals(self, &outcome);
		fflush(stdout); /* a program that was started may go on for long */
		warn_words(&outcome.recorded.totals.words);
	}
	return r ? r : end ? end : record_finish_judge(self, &outcome, err);
}
