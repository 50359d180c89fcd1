/*
 * The order of things in a recording.  The file is begun before anything is touched, so that a full
 * disk or a bad name costs the target nothing; the collector runs before the first hook is in and
 * until the last is out.  Host only.
 */
#include "host/recorder/recorder_private.h"

#include "host/collect/facts.h"
#include "host/core/cleanup.h"
#include "host/export/amd/name_rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VARIABLES_MAX 128u

/* Those that names are made from, and what was asked for. */
static int keep_variables(struct recorder *self, struct err *err)
{
	const char *names[VARIABLES_MAX + 1], *const *further = self->given.variables;
	size_t count = 0;

	for (const char *const *name = name_rule_variables; *name; name++)
		names[count++] = *name;
	for (; further && *further && count < VARIABLES_MAX; further++)
		names[count++] = *further;
	names[count] = NULL;
	return facts_variables(self->file, self->pid, self->process, names, err);
}

static int begin_file(struct recorder *self, struct err *err)
{
	const char *path = self->given.path;
	int r = self->new_file < 0
			? recording_create(path, &self->file, err)
			: recording_create_in(TAKE_FD(self->new_file), path, &self->file, err);

	if (r)
		return r;
	self->known_programs.recording = self->file;
	self->unused_path = recording_begins_beside(self->file) ? NULL : path;
	r = facts_session(self->file, self->given.version, self->trace.layout.request, err);
	return r ? r : recording_clock(self->file, err);
}

int recorder_begin_program(struct recorder *self, struct err *err)
{
	struct collect_source source = {
		.rings = self->trace.rings,
		.size = self->trace.layout.size,
		.is_alive = target_thread_is_alive,
		.thread_name = target_thread_name,
		.context = &self->threads,
	};
	int r = programs_number(&self->known_programs, &self->process, err);

	if (!r)
		r = keep_variables(self, err);
	if (r || !self->trace.rings)
		return r;
	source.process = self->process;
	r = collector_new(self->file, &source, &self->collector, err);
	return r ? r : collector_start(self->collector, err);
}

/* An empty recording would only be in the way. */
static void remove_unused(const char *path)
{
	struct stat file;

	if (path && !lstat(path, &file) && S_ISREG(file.st_mode))
		unlink(path);
}

static void free_recorder(struct recorder *self)
{
	sampling_free(self->sampling);
	collector_free(self->collector);
	if (self->file)
		recording_abandon(self->file);
	if (self->new_file >= 0)
		close(self->new_file);
	if (self->pidfd >= 0)
		close(self->pidfd);
	remove_unused(self->unused_path);
	trace_close(&self->trace);
	target_threads_done(&self->threads);
	programs_done(&self->known_programs);
	free(self);
}

static int open_parts(struct recorder *self, const struct recorder_options *options, bool traces,
		      struct err *err)
{
	int r = traces ? trace_open(&self->trace, &options->trace, err) : 0;

	if (!r)
		r = begin_file(self, err);
	if (!r)
		r = recorder_begin_program(self, err);
	if (!r && options->sampling)
		r = sampling_new(&self->sampling, self->file, &self->known_programs,
				 options->sampling, err);
	return r;
}

int recorder_open(struct recorder **ret, pid_t pid, const struct recorder_options *options,
		  struct err *err)
{
	struct recorder *self = calloc(1, sizeof(*self));
	bool traces = !options->sampling || trace_domains(&options->trace);
	int r;

	if (!self) {
		if (options->is_path_new)
			close(options->new_file);
		return err_set(err, -ENOMEM, "memory for the recording");
	}
	self->pid = self->threads.pid = pid;
	self->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	self->trace.fd = -1;
	programs_init(&self->known_programs, pid, traces);
	self->given = *options;
	self->unused_path = options->is_path_new ? options->path : NULL;
	self->new_file = options->is_path_new ? options->new_file : -1;
	self->options = options->session;
	self->options.trace = &self->trace;
	r = open_parts(self, options, traces, err);
	if (r)
		free_recorder(self);
	else
		*ret = self;
	return r;
}

/* Samples from before the first hook is in: nothing of the target's is changed for them. */
int recorder_begin(struct recorder *self, struct err *err)
{
	int r = self->sampling ? sampling_start(self->sampling, err) : 0;

	if (!r && self->collector) {
		r = session_open(&self->session, self->pid, &self->options, err);
		self->is_attached = !r;
		self->is_cut_off &= !self->is_attached;
	}
	self->watch = (struct registers_watch){ 0 };
	if (!r) {
		self->unused_path = NULL;
		recorder_keep_name(self);
	} else if (self->sampling) {
		sampling_pause(self->sampling);
	}
	return r;
}

const struct trace *recorder_lend(struct recorder *self)
{
	self->unused_path = NULL;
	return &self->trace;
}

int recorder_pause(struct recorder *self, bool unload, struct session_left *ret_left,
		   struct err *err)
{
	int r = 0;

	ret_left->count = 0;
	if (self->sampling)
		sampling_pause(self->sampling);
	if (!self->is_attached)
		return 0;
	if (!recorder_note_farewell(self) && target_lives(&self->session.attachment.target))
		r = session_leave(&self->session, unload, ret_left, err);
	if (r && !target_lives(&self->session.attachment.target)) {
		memset(err, 0, sizeof(*err)); /* it ended meanwhile: that is an ending too */
		r = 0;
	}
	session_close(&self->session);
	self->is_attached = false;
	return r;
}

/* Runtimes that no register library of ours tells about are looked for. */
int recorder_check(struct recorder *self, struct err *err)
{
	int r = recorder_follow(self, err);

	if (r)
		return r;
	if (self->sampling && sampling_check(self->sampling, err))
		return err->code;
	if (self->is_attached && trace_absent(&self->trace) & TRACE_TABLE_DOMAINS)
		registers_ask_again(&self->session, &self->options, &self->watch);
	return self->collector ? collector_check(self->collector, err) : 0;
}

void recorder_totals(struct recorder *self, struct collect_totals *ret)
{
	if (self->collector)
		collector_totals(self->collector, ret);
	else
		*ret = (struct collect_totals){ 0 };
	recorder_add_earlier(self, ret);
}

struct sampling *recorder_sampling(struct recorder *self)
{
	return self->sampling;
}

uint64_t recorder_file_bytes(struct recorder *self)
{
	return recording_size(self->file);
}

const struct session *recorder_session(const struct recorder *self)
{
	return self->collector ? &self->session : NULL;
}

int recorder_pidfd(const struct recorder *self)
{
	return self->pidfd;
}

const char *recorder_note(const struct recorder *self, unsigned domain)
{
	return self->collector ? trace_note(&self->trace, domain) : NULL;
}

const char *recorder_end_note(const struct recorder *self, unsigned note)
{
	return self->collector ? trace_end_note(&self->trace, note) : NULL;
}

uint32_t recorder_absent(const struct recorder *self)
{
	return self->collector ? trace_absent(&self->trace) : 0;
}

static uint64_t count_turned(const struct trace *trace)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < trace->layout.slot_count; i++)
		sum += ring_turned(rings_slot(trace->rings, i));
	return sum;
}

struct work_left recorder_work_left(const struct recorder *self)
{
	const struct rings *rings = self->trace.rings;

	if (!rings)
		return self->earlier.left;
	return (struct work_left){
		self->earlier.left.cut + __atomic_load_n(&rings->work_cut, __ATOMIC_RELAXED),
		self->earlier.left.lost + __atomic_load_n(&rings->work_lost, __ATOMIC_RELAXED),
		self->earlier.left.unseen + __atomic_load_n(&rings->work_unseen, __ATOMIC_RELAXED),
		self->earlier.left.turned + count_turned(&self->trace)
	};
}

void recorder_words(const struct recorder *self, struct trace_words *ret)
{
	if (self->collector)
		trace_words(&self->trace, ret);
	else
		*ret = (struct trace_words){ 0 };
}

void recorder_queues(const struct recorder *self, struct trace_queues *ret)
{
	if (self->trace.rings)
		trace_queues(&self->trace, ret);
	else
		*ret = (struct trace_queues){ 0 };
}

static struct recorded_end end_of(const struct collect_totals *totals, enum recording_end reason)
{
	struct recorded_end end = { .reason = reason,
				    .records = totals->records,
				    .record_bytes = totals->record_bytes,
				    .invalid = totals->invalid };

	memcpy(end.drops, totals->drops, sizeof(end.drops));
	return end;
}

int recorder_finish(struct recorder *self, struct err *err)
{
	int r = 0;

	if (self->is_finished)
		return 0;
	self->is_finished = true;
	if (self->collector) {
		collector_stop(self->collector);
		r = collector_finish(self->collector, err);
	}
	return !r && self->sampling ? sampling_finish(self->sampling, err) : r;
}

int recorder_end(struct recorder *self, bool gives_up, struct recorder_outcome *ret,
		 struct err *err)
{
	struct recorded_end end;
	struct err ignored = { 0 };
	int r = 0, closed;

	if (self->collector)
		collector_stop(self->collector);
	if (!gives_up)
		r = recorder_finish(self, err);
	recorder_totals(self, &ret->totals);
	/* More may have been loaded meanwhile; where it has ended, the first list must do: its
	 * number may be another's. */
	if (!r && pidfd_lives(self->pidfd) &&
	    facts_modules(self->file, self->pid, self->process, &ignored))
		memset(&ignored, 0, sizeof(ignored));
	end = end_of(&ret->totals, gives_up ? RECORDING_GIVEN_UP : RECORDING_COMPLETE);
	closed = recording_end(self->file, r ? NULL : &end, &ret->written, r ? &ignored : err);
	free_recorder(self);
	return r ? r : closed;
}
