/*
 * Records, then writes.  The recordings are in a temporary folder, one for each process, which is
 * kept only if files could not be made from them.
 */
#include "host/rocprofv3/job.h"

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/counters/amd/request.h"
#include "host/model/domains.h"
#include "host/process/inspect/process.h"
#include "host/recorder/record_job.h"
#include "host/recording/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define COUNTERS_STEP_NS 5000000
#define COUNTERS_STEPS   600u /* three seconds */

struct running {
	const struct profile_job *job;
	const struct job_listener *listener;
	struct recorder *recorder;
	int pidfd;                 /* of the first process, with which it ends */
	bool has_begun, has_ended; /* limpet's part; the process */
	char folder[256];
	struct counter_collection *counters; /* NULL: none requested */
	bool is_note_reported;               /* about why devices do not count */
	uint32_t absent;                     /* domains that no process had, not reported yet */
};

static int make_folder(struct running *self, struct err *err)
{
	const char *folders[] = { secure_getenv("ROCPROF_TMPDIR"), secure_getenv("TMPDIR"),
				  "/tmp" };
	size_t i = 0;

	while (!folders[i] || !folders[i][0])
		i++;
	errno = ENAMETOOLONG; /* unless mkdtemp() sets another */
	if ((size_t)snprintf(self->folder, sizeof(self->folder), "%s/rocprofv3-XXXXXX",
			     folders[i]) >= sizeof(self->folder) ||
	    !mkdtemp(self->folder)) {
		err_set(err, -errno, "make a folder in '%s': %s", folders[i], strerror(errno));
		err_fix(err, "ROCPROF_TMPDIR=FOLDER names another one for recordings");
		self->folder[0] = 0;
		return err->code;
	}
	return 0;
}

static enum ending running_wait(void *context, const struct job_wait *wait)
{
	const struct running *self = context;

	return self->listener->wait(self->listener->context, self->pidfd, wait->time_ns);
}

/* Counting begins a moment after the attach: waits for it, as kernels of this moment would not be
 * counted.  A program started for this has not begun, and waits: counting begins with its own
 * start. */
static int await_counters(const struct running *self, struct err *err)
{
	const struct timespec pause = { 0, COUNTERS_STEP_NS };
	const struct tracing *tracing = recorder_tracing(self->recorder, 0);
	bool has_begun = !self->job->doorstep;
	int r = 0;

	for (unsigned i = 0; !r && tracing && has_begun && i < COUNTERS_STEPS; i++) {
		if (!(tracing_absent(tracing) & DOMAIN_BIT(COUNTER)) ||
		    trace_note(&tracing->trace, DOMAIN_COUNTER))
			break;
		nanosleep(&pause, NULL);
		r = recorder_check(self->recorder, err);
	}
	return r;
}

/* The reason why devices do not count may be known only then. */
static void counter_note_report(struct running *self, const struct tracing *tracing)
{
	const char *why =
		self->counters && tracing ? trace_note(&tracing->trace, DOMAIN_COUNTER) : NULL;

	if (why && !self->is_note_reported)
		listener_say(self->listener, SAY_WARNING, "no counters of process %d: %s",
			     tracing->pid, why);
	self->is_note_reported |= why != NULL;
}

static int running_ready(void *context, struct err *err)
{
	struct running *self = context;
	int r = self->counters ? await_counters(self, err) : 0;

	if (r)
		return r;
	counter_note_report(self, recorder_tracing(self->recorder, 0));
	self->has_begun = true;
	self->listener->begun(self->listener->context);
	return 0;
}

static int profile_record(struct running *self, struct err *err)
{
	const struct profile *profile = self->job->profile;
	struct record_job job = {
		.recorder = self->recorder,
		.times = { profile->periods, profile->period_count, self->job->duration_ns,
			   .max_bytes = 0 },
		.watcher = { .wait = running_wait, .ready = running_ready, .context = self },
	};
	int r = record_job_run(&job, err);

	self->has_ended = job.ending == ENDING_EXIT;
	return r;
}

/* Selected domains that are missing, or incomplete, as far as known.  A program started for this
 * has yet to begin: only reasons are reported then. */
static void absent_report(void *context, const struct tracing *tracing)
{
	struct running *self = context;
	bool is_root = tracing->pid == self->job->pid;
	uint32_t absent = tracing_absent(tracing);

	for (unsigned i = 0; i < DOMAINS; i++) {
		const char *why = trace_note(&tracing->trace, i);
		bool is_absent = absent & 1u << i;

		if (is_absent && !why && self->job->doorstep)
			continue;
		self->absent &= ~(1u << i);
		if (is_absent || why)
			listener_say(self->listener, is_root ? SAY_WARNING : SAY_INFO,
				     "%s for %s in process %d%s%s",
				     is_absent ? "nothing to trace" : "not all is traced",
				     domain_name(i), tracing->pid, why ? ": " : "", why ? why : "");
	}
}

static void skipped_report(void *context, pid_t pid, const struct err *err)
{
	struct running *self = context;

	(void)pid;
	self->absent = 0; /* its domains are not known */
	listener_say_error(self->listener, SAY_WARNING, err);
}

static void left_report(void *context, pid_t pid, const struct session_left *left,
			const struct err *err)
{
	const struct running *self = context;

	(void)pid;
	for (size_t i = 0; i < left->count; i++)
		listener_say(self->listener, SAY_WARNING, "stays in the process: %s",
			     left->items[i]);
	if (err->code)
		listener_say_error(self->listener, SAY_WARNING, err);
}

/* Reports why some kernels were not counted. */
static void uncounted_report(const struct running *self, const struct tracing *tracing,
			     const struct work_left *left)
{
	if (!self->counters || !left->uncounted)
		return;
	listener_say(self->listener, SAY_WARNING,
		     "%" PRIu32 " packets of process %d went by uncounted", left->uncounted,
		     tracing->pid);
	for (unsigned i = 0; i < TRACE_NOTES; i++) {
		const char *note = trace_end_note(&tracing->trace, i);

		if (note)
			listener_say(self->listener, SAY_WARNING, "%s", note);
	}
}

static void work_left_report(const struct running *self, pid_t pid, const struct work_left *left)
{
	if (left->cut + left->lost)
		listener_say(self->listener, SAY_WARNING,
			     "%" PRIu32 " commands of process %d were not done in time, %" PRIu32
			     " could not be followed",
			     left->cut, pid, left->lost);
	if (left->unseen)
		listener_say(self->listener, SAY_WARNING,
			     "%" PRIu32
			     " kernels and copies of HSA of process %d are not in the files: "
			     "it has not looked at their signals before the end",
			     left->unseen, pid);
}

static void losses_report(void *context, const struct tracing *tracing)
{
	struct running *self = context;
	struct tracing_totals totals;
	uint64_t dropped;

	/* The domains of a program that was not followed are not known. */
	self->absent &= tracing_unfollowed(tracing) ? 0 : tracing_absent(tracing);
	counter_note_report(self, tracing);
	tracing_totals(tracing, &totals);
	dropped = drops_sum(totals.collected.drops);
	if (dropped)
		listener_say(self->listener, SAY_WARNING,
			     "%" PRIu64 " records of process %d were dropped: it called too fast",
			     dropped, tracing->pid);
	work_left_report(self, tracing->pid, &totals.left);
	uncounted_report(self, tracing, &totals.left);
}

static int write_files(struct running *self, struct results *ret, struct err *err)
{
	struct tracing_totals totals;
	int r;

	/* Of a program that was started, and of all that it has started. */
	for (unsigned i = 0; self->job->doorstep && i < DOMAINS; i++)
		if (self->absent & 1u << i)
			listener_say(self->listener, SAY_WARNING,
				     "nothing to trace for %s in the program", domain_name(i));
	recorder_totals(self->recorder, &totals);
	if (totals.missed)
		listener_say(self->listener, SAY_WARNING,
			     "%" PRIu64
			     " descendants of process %d ended before limpet had attached: they "
			     "are not in the files",
			     totals.missed, self->job->pid);
	r = results_write(self->recorder, self->job->profile, self->listener, ret, err);
	if (!r && !ret->events)
		listener_say(self->listener, SAY_WARNING,
			     "the trace is empty: nothing of what was asked for was called, or "
			     "ended, in process %d meanwhile",
			     self->job->pid);
	return r;
}

static int open_recorder(struct running *self, const char *const *variables, struct err *err)
{
	const struct profile_job *job = self->job;
	struct recorder_options options = {
		.pids = &job->pid,
		.pid_count = 1,
		.has_children = job->profile->has_children,
		.session = { .attach.doorstep = job->doorstep,
			     .tools = job->tools,
			     .tool_count = job->tool_count,
			     .is_strict = true,
			     .all_descendants = job->profile->all_descendants },
		.trace = { .domains = job->profile->domains,
			   .counters = self->counters ? self->counters->words : NULL,
			   .counter_facts = self->counters ? self->counters->facts : NULL,
			   .counter_fact_count = self->counters ? self->counters->fact_count : 0 },
		.folder = self->folder,
		.version = job->version,
		.variables = variables,
		.listener = { absent_report, skipped_report, left_report, losses_report, self },
	};

	return recorder_open(&self->recorder, &options, err);
}

/* Keeps recordings of which no files could be made: there is no other copy. */
static void clean_up(struct running *self, bool keeps)
{
	if (keeps && self->folder[0])
		listener_say(self->listener, SAY_WARNING,
			     "the recordings are kept in %s (limpet export makes files of them)",
			     self->folder);
	recorder_free(self->recorder, keeps);
	if (!keeps && self->folder[0])
		rmdir(self->folder);
	if (self->pidfd >= 0)
		close(self->pidfd);
	if (self->counters)
		counter_collection_close(self->counters);
	free(self->counters);
}

/* Before the process is touched. */
static int plan_counters(struct running *self, struct err *err)
{
	const struct profile *profile = self->job->profile;
	CLEANUP(free) char *extra = NULL;
	size_t size;
	int r = 0;

	if (!profile->counters.count)
		return 0;
	if (profile->extra_counters)
		r = text_read_file(profile->extra_counters, DEFINITIONS_FILE_MAX, &extra, &size);
	if (r) {
		err_set(err, r, "read '%s': %s", profile->extra_counters, strerror(-r));
		return err_exit(err, EXIT_USAGE);
	}
	self->counters = calloc(1, sizeof(*self->counters));
	if (!self->counters)
		return err_set(err, -ENOMEM, "no memory for counters");
	r = counter_collection_open(
		self->counters,
		&(struct counter_wish){ .folder = profile->config_folder,
					.extra = extra ? extra : profile->extra_text,
					.names = profile->counters.items,
					.count = profile->counters.count },
		err);
	if (!r && self->counters->plan.unknown[0])
		listener_say(self->listener, SAY_WARNING,
			     "Unable to find all counters for agent of %s: %s",
			     self->counters->plan.architecture, self->counters->plan.unknown);
	if (!r && self->counters->left_out[0])
		listener_say(
			self->listener, SAY_WARNING,
			"no counters of %s: those of %s are collected, and one architecture at a time",
			self->counters->left_out, self->counters->plan.architecture);
	return r;
}

int profile_job_run(const struct profile_job *job, struct results *ret, struct err *err)
{
	struct running self = { .job = job,
				.listener = job->listener,
				.pidfd = (int)syscall(SYS_pidfd_open, job->pid, 0),
				.absent = UINT32_MAX };
	struct process process;
	struct results_variables variables;
	struct recorder_outcome outcome;
	struct err second = { 0 };
	bool keeps = false;
	int r = plan_counters(&self, err);

	*ret = (struct results){ 0 };
	/* AMD's set is wider than limpet's: the user is warned, having named none of its parts. */
	if (job->profile->is_wide)
		listener_say(job->listener, SAY_WARNING,
			     "--sys-trace and --runtime-trace are without KFD, OMPT, rocSHMEM and "
			     "hipFile: limpet does not trace them");
	results_find_variables(job->profile, &variables);
	if (!r)
		r = process_read(job->pid, &process, err);
	if (!r) {
		process_done(&process);
		r = make_folder(&self, err);
	}
	if (!r)
		r = open_recorder(&self, variables.names, err);
	if (!r) {
		r = profile_record(&self, err);
		if (recorder_end(self.recorder, /* gives_up */ false, &outcome,
				 r ? &second : err) &&
		    !r)
			r = err->code;
		/* Also after a failure: the data recorded until then are written. */
		if (self.has_begun && write_files(&self, ret, r ? &second : err)) {
			keeps = true;
			r = r ? r : err->code;
		}
		ret->has_ended = self.has_ended;
	}
	clean_up(&self, keeps);
	return r;
}
