/*
 * Drives an open recording: begin, pause, resume, end.  Sampling starts before hooks are installed,
 * because it changes nothing in the target.
 */
#include "host/collect/facts.h"
#include "host/recorder/recorder_private.h"

static int begin_one(struct recorder *self, const struct root *root, struct err *err)
{
	struct traced *traced = traced_find(self, root->pid);
	int r;

	if (!traced)
		traced = traced_add(self, root->pid, err);
	if (!traced)
		return err->code;
	r = tracing_start(traced->tracing, err);
	if (!r)
		traced_set(self, traced, TRACED_IN);
	return r;
}

/* On the first start every process must attach.  On a resume, processes that have ended are
 * skipped. */
static int begin_tracing(struct recorder *self, struct err *err)
{
	size_t begun = 0;
	int r = 0;

	for (size_t i = 0; !r && i < self->root_count; i++) {
		struct root *root = &self->roots[i];
		bool is_last = i + 1 == self->root_count && !begun;

		if (self->has_begun && !is_last && !pidfd_lives(root->pidfd))
			continue;
		r = self->given.has_children ? family_begin(self, root, err)
					     : begin_one(self, root, err);
		begun += !r;
	}
	return r;
}

/* After the agent is attached, which makes system calls of its own. */
static int begin_syscalls(struct recorder *self, struct err *err)
{
	struct syscall_source_options options = { .pids = self->pids,
						  .has_children = self->given.has_children,
						  .ring_bytes = self->given.trace.ring_size };

	if (!self->syscalls)
		return 0;
	options.pid_count = roots_choose_living(self);
	return syscall_tracing_start(self->syscalls, &options, err);
}

int recorder_begin(struct recorder *self, struct err *err)
{
	struct err second = { 0 };
	int r = 0;

	if (self->sampling && self->has_begun) {
		roots_choose_sampled(self);
		sampling_set_processes(self->sampling, &self->sampled.sampler);
	}
	if (self->sampling)
		r = sampling_start(self->sampling, err);
	if (!r && self->traces)
		r = begin_tracing(self, err);
	if (!r)
		r = begin_syscalls(self, err);
	if (!r && self->gpu_windows)
		r = gpu_windows_start(self->gpu_windows, err);
	if (!r && self->cpu_windows)
		r = cpu_windows_start(self->cpu_windows, self->pids, roots_choose_living(self),
				      self->given.has_children, err);
	if (r) {
		(void)!recorder_pause(self, /* unload */ false, &second);
		return r;
	}
	self->has_begun = true;
	self->output.is_unused = false;
	return 0;
}

static int pause_one(struct recorder *self, struct traced *traced, bool unload, struct err *err)
{
	const struct recorder_listener *listener = &self->given.listener;
	struct session_left left = { 0 };
	const struct err none = { 0 };
	int r = tracing_pause(traced->tracing, unload, &left, err);

	traced_set(self, traced, TRACED_OUT);
	if (left.count && listener->left)
		listener->left(listener->context, traced->pid, &left, &none);
	return r;
}

/* Detaches from every process, even if detaching from one of them fails. */
int recorder_pause(struct recorder *self, bool unload, struct err *err)
{
	struct err second = { 0 };
	int r = 0;

	if (self->cpu_windows)
		r = cpu_windows_pause(self->cpu_windows, err);
	if (self->gpu_windows && gpu_windows_pause(self->gpu_windows, r ? &second : err))
		r = r ? r : err->code;
	if (self->syscalls && syscall_tracing_pause(self->syscalls, r ? &second : err))
		r = r ? r : err->code;
	if (self->sampling)
		sampling_pause(self->sampling);
	for (size_t i = 0; i < self->root_count; i++)
		if (self->roots[i].tree &&
		    family_pause(self, &self->roots[i], unload, r ? &second : err))
			r = r ? r : err->code;
	for (struct traced *traced = traced_next(self, NULL); traced;
	     traced = traced_next(self, traced))
		if (!self->given.has_children && traced->state == TRACED_IN &&
		    pause_one(self, traced, unload, r ? &second : err))
			r = r ? r : err->code;
	family_report(self, &self->given.listener);
	return r;
}

static int check_traced(struct recorder *self, struct traced *traced, struct err *err)
{
	switch (traced_state(self, traced)) {
	case TRACED_OVER:
		return traced_end(self, traced, /* gives_up */ false, err);
	case TRACED_IN:
		return tracing_check(traced->tracing, err);
	default:
		return 0;
	}
}

int recorder_check(struct recorder *self, struct err *err)
{
	struct traced *next;
	int r = 0;

	family_report(self, &self->given.listener);
	for (struct traced *traced = traced_next(self, NULL); traced && !r; traced = next) {
		next = traced_next(self, traced);
		r = check_traced(self, traced, err);
	}
	if (!r && self->syscalls)
		r = syscall_tracing_check(self->syscalls, err);
	if (!r && self->cpu_windows)
		r = cpu_windows_check(self->cpu_windows, err);
	if (!r && self->gpu_windows)
		r = gpu_windows_check(self->gpu_windows, err);
	/* Recordings of the whole machine have only samples, no usage of processes. */
	if (!r && !self->given.is_system_wide)
		r = recorder_output_check(&self->output, err);
	for (struct traced *traced = traced_next(self, NULL); traced && !r;
	     traced = traced_next(self, traced))
		r = recorder_output_check(&traced->own, err);
	return !r && self->sampling ? sampling_check(self->sampling, err) : r;
}

bool recorder_is_following(struct recorder *self)
{
	bool is_following = false;

	for (struct traced *traced = traced_next(self, NULL); traced;
	     traced = traced_next(self, traced))
		is_following |= traced->tracing && traced->tracing->is_following;
	return is_following;
}

/* The first process's socket: several processes are polled ten times a second instead. */
int recorder_socket(struct recorder *self)
{
	struct traced *traced = traced_next(self, NULL);

	return traced && traced->tracing && traced->tracing->is_attached
		       ? traced->tracing->session.attachment.link.socket
		       : -1;
}

static bool roots_have_ended(const struct recorder *self)
{
	for (size_t i = 0; i < self->root_count; i++)
		if (pidfd_lives(self->roots[i].tree ? tree_end_fd(self->roots[i].tree)
						    : self->roots[i].pidfd))
			return false;
	return true;
}

bool recorder_has_ended(struct recorder *self)
{
	bool has_family = self->given.has_children || self->root_count > 1;
	struct sampling_totals sampled = { .is_running = false };

	if (!self->root_count)
		return false;
	if (self->syscalls && has_family && syscall_tracing_goes_on(self->syscalls))
		return false;
	if (self->sampling && has_family)
		sampling_totals(self->sampling, &sampled);
	return !sampled.is_running && (sampled.has_ended || roots_have_ended(self));
}

int recorder_end_fd(struct recorder *self)
{
	if (self->root_count != 1 ||
	    ((self->sampling || self->syscalls) && self->given.has_children))
		return -1;
	return self->roots[0].tree ? tree_end_fd(self->roots[0].tree) : self->roots[0].pidfd;
}

/* A process that an agent traces as well is counted once. */
static void add_syscalls(struct recorder *self, struct tracing_totals *to)
{
	struct tracing_totals more = { 0 };
	struct syscall_totals totals;

	if (!self->syscalls)
		return;
	syscall_tracing_totals(self->syscalls, &totals);
	more.collected = totals.collected;
	more.syscalls_before = totals.began_before;
	more.syscalls_under_way = totals.under_way;
	more.processes = totals.processes - MIN(totals.processes, to->processes);
	more.collected.threads -= MIN(more.collected.threads, to->collected.threads);
	tracing_totals_add(to, &more);
}

void recorder_totals(struct recorder *self, struct tracing_totals *ret)
{
	struct tracing_totals more;

	*ret = self->earlier;
	for (struct traced *traced = traced_next(self, NULL); traced;
	     traced = traced_next(self, traced)) {
		if (!traced->tracing)
			continue;
		tracing_totals(traced->tracing, &more);
		more.processes = 1;
		tracing_totals_add(ret, &more);
	}
	add_syscalls(self, ret);
}

uint64_t recorder_file_bytes(struct recorder *self)
{
	uint64_t sum = recorder_output_bytes(&self->output);

	for (struct traced *traced = traced_next(self, NULL); traced && self->given.folder;
	     traced = traced_next(self, traced))
		sum += recorder_output_bytes(&traced->own);
	return sum;
}

const struct tracing *recorder_tracing(struct recorder *self, size_t index)
{
	struct traced *traced = traced_next(self, NULL);

	while (traced && (!traced->tracing || index--))
		traced = traced_next(self, traced);
	return traced ? traced->tracing : NULL;
}

const char *recorder_counter_reasons(const struct recorder *self)
{
	return self->cpu_windows ? cpu_windows_reasons(self->cpu_windows) : "";
}

struct sampling *recorder_sampling(struct recorder *self)
{
	return self->sampling;
}

/* Called when all processes are detached, and no tree is left. */
static int end_all_traced(struct recorder *self, bool gives_up, struct err *err)
{
	struct err second = { 0 };
	struct traced *next;
	int r = 0;

	for (struct traced *traced = self->traced; traced; traced = next) {
		next = traced->next;
		if (traced->tracing && traced_end(self, traced, gives_up, r ? &second : err))
			r = r ? r : err->code;
	}
	return r;
}

static void finish_syscalls(struct recorder *self)
{
	add_syscalls(self, &self->earlier);
	syscall_tracing_free(self->syscalls);
	self->syscalls = NULL;
}

int recorder_finish(struct recorder *self, struct err *err)
{
	int r;

	if (self->is_finished)
		return 0;
	self->is_finished = true;
	r = end_all_traced(self, /* gives_up */ false, err);
	if (!r && self->device_windows)
		r = device_windows_flush(self->device_windows, err);
	finish_syscalls(self);
	return !r && self->output.recording && self->sampling ? sampling_finish(self->sampling, err)
							      : r;
}

/* Modules may have been loaded since the last list; traced processes have written their own. */
static void write_modules(struct recorder *self)
{
	struct err ignored = { 0 };
	uint32_t number;

	for (size_t i = 0; !self->traces && i < self->root_count; i++)
		if (pidfd_lives(self->roots[i].pidfd) &&
		    programs_find(&self->output.programs, self->roots[i].pid, &number))
			(void)!facts_modules(self->output.recording, self->roots[i].pid, number,
					     &ignored);
}

static void add_written(struct recorded_contents *to, const struct recorded_contents *more)
{
	to->bytes += more->bytes;
	to->records += more->records;
	to->samples += more->samples;
	to->windows += more->windows;
	to->leaves_old_file |= more->leaves_old_file;
}

int recorder_end(struct recorder *self, bool gives_up, struct recorder_outcome *ret,
		 struct err *err)
{
	int r = gives_up ? end_all_traced(self, gives_up, err) : recorder_finish(self, err);

	finish_syscalls(self);
	*ret = (struct recorder_outcome){ .totals = self->earlier };
	if (self->output.recording && !r)
		write_modules(self);
	if (self->output.recording)
		r = recorder_output_end(&self->output, &self->earlier.collected, gives_up, r, err);
	add_written(&ret->written, &self->output.written);
	for (struct traced *traced = self->traced; traced; traced = traced->next)
		add_written(&ret->written, &traced->own.written);
	return r;
}

bool recorder_file(const struct recorder *self, size_t index, struct recorder_file *ret)
{
	const struct traced *traced = self->traced;

	while (traced && (!traced->was_in || index--))
		traced = traced->next;
	if (traced)
		*ret = (struct recorder_file){ traced->pid, traced->own.path,
					       traced->own.written.records };
	return traced;
}
