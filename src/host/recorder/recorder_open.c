/*
 * Opens and frees a recording.  The file is created before any process is touched, so that a full
 * disk or a bad name costs the targets nothing.
 */
#include "host/process/forks/descendants.h"
#include "host/recorder/recorder_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Is the process recorded with one that was named before it, or as a descendant of any?  Without a
 * file each may be named: the sampler lists families itself. */
static bool is_covered(const struct recorder *self, size_t index)
{
	const pid_t *pids = self->given.pids;
	bool is_covered = false;

	for (size_t i = 0; self->given.path && i < self->given.pid_count && !is_covered; i++) {
		pid_t *family = NULL;
		size_t count = 0;
		struct err ignored = { 0 };

		is_covered = i < index && pids[i] == pids[index];
		if (pids[i] == pids[index] || !self->given.has_children ||
		    descendants_list(pids[i], &family, &count, &ignored))
			continue;
		for (size_t j = 0; j < count; j++)
			is_covered |= family[j] == pids[index];
		free(family);
	}
	return is_covered;
}

static int open_roots(struct recorder *self, struct err *err)
{
	size_t count = self->given.pid_count;

	self->roots = calloc(count + 1, sizeof(*self->roots));
	self->pids = calloc(count + 1, sizeof(*self->pids));
	if (!self->roots || !self->pids)
		return err_set(err, -ENOMEM, "no memory for the recording");
	for (size_t i = 0; i < count; i++) {
		pid_t pid = self->given.pids[i];

		if (count == 1 || !is_covered(self, i))
			self->roots[self->root_count++] =
				(struct root){ pid, (int)syscall(SYS_pidfd_open, pid, 0), NULL };
	}
	return 0;
}

/* In a recording with one file, each process begins in it before any process is touched. */
static int begin_processes(struct recorder *self, struct err *err)
{
	uint32_t number;
	int r = 0;

	for (size_t i = 0; !r && i < self->root_count; i++) {
		r = programs_number(&self->output.programs, self->roots[i].pid, &number, err);
		if (!r && self->traces && !self->given.has_children &&
		    !traced_add(self, self->roots[i].pid, err))
			r = err->code;
	}
	return r;
}

size_t roots_choose_living(struct recorder *self)
{
	size_t count = 0;

	for (size_t i = 0; i < self->root_count; i++)
		if (pidfd_lives(self->roots[i].pidfd))
			self->pids[count++] = self->roots[i].pid;
	if (!count)
		self->pids[count++] = self->roots[0].pid; /* 0 where no process was named */
	return count;
}

void roots_choose_sampled(struct recorder *self)
{
	size_t count = roots_choose_living(self);

	self->sampled.sampler.pid = self->pids[0];
	self->sampled.sampler.further = self->pids + 1;
	self->sampled.sampler.further_count = count - 1;
}

static int open_sampling(struct recorder *self, struct err *err)
{
	struct programs *programs = self->output.recording ? &self->output.programs : NULL;

	if (!self->given.sampling)
		return 0;
	self->sampled = *self->given.sampling;
	self->sampled.sampler.children = self->given.has_children;
	self->sampled.sampler.is_system_wide = self->given.is_system_wide;
	roots_choose_sampled(self);
	return sampling_new(&self->sampling, programs, &self->sampled, err);
}

/* Before processes begin: they refer to the counters of their devices. */
static int open_windows(struct recorder *self, struct err *err)
{
	const struct window_options *options = self->given.windows;
	int r = 0;

	if (options && options->events)
		r = cpu_windows_new(&self->cpu_windows, &self->output.programs, options, err);
	if (!r && options && options->devices)
		r = device_windows_new(&self->device_windows, self->output.recording, options, err);
	self->tracing.windows = self->device_windows;
	if (!r && options && options->has_gpus)
		r = gpu_windows_new(&self->gpu_windows, &self->output.programs, options,
				    self->root_count ? self->roots[0].pid : 0, err);
	return r;
}

static int open_parts(struct recorder *self, struct err *err)
{
	int new_file = self->given.is_path_new ? self->given.new_file : -1;
	int r = open_roots(self, err);

	if (r) {
		if (new_file >= 0)
			close(new_file);
		return r;
	}
	if (self->given.folder)
		return 0;
	if (!self->given.path)
		return open_sampling(self, err);
	r = recorder_output_open(&self->output, self, self->given.path, new_file, err);
	if (!r)
		r = open_windows(self, err);
	if (!r)
		r = begin_processes(self, err);
	if (!r && trace_domains(&self->given.trace) & DOMAINS_BPF)
		r = syscall_tracing_new(&self->syscalls, &self->output.programs, err);
	return r ? r : open_sampling(self, err);
}

/* The remaining options go to the agent in the targets. */
static void choose_traces(struct recorder *self)
{
	const struct recorder_options *options = &self->given;
	uint32_t domains = trace_domains(&options->trace);

	self->traces =
		domains & ~DOMAINS_BPF || (!domains && !options->sampling && !options->windows);
	self->tracing =
		(struct tracing_options){ .session = options->session, .trace = options->trace };
	self->tracing.trace.domains &= ~DOMAINS_BPF;
}

int recorder_open(struct recorder **ret, const struct recorder_options *options, struct err *err)
{
	struct recorder *self = calloc(1, sizeof(*self));
	int r;

	if (!self) {
		if (options->is_path_new)
			close(options->new_file);
		return err_set(err, -ENOMEM, "no memory for the recording");
	}
	pthread_mutex_init(&self->lock, NULL);
	self->given = *options;
	choose_traces(self);
	r = open_parts(self, err);
	if (r)
		recorder_free(self, /* keeps_files */ false);
	else
		*ret = self;
	return r;
}

void recorder_free(struct recorder *self, bool keeps_files)
{
	if (!self)
		return;
	cpu_windows_free(self->cpu_windows);
	gpu_windows_free(self->gpu_windows);
	syscall_tracing_free(self->syscalls);
	sampling_free(self->sampling);
	for (size_t i = 0; i < self->root_count; i++) {
		tree_close(self->roots[i].tree);
		if (self->roots[i].pidfd >= 0)
			close(self->roots[i].pidfd);
	}
	free(self->roots);
	free(self->pids);
	while (self->traced) {
		struct traced *traced = self->traced;

		self->traced = traced->next;
		traced_free(traced, keeps_files);
	}
	device_windows_free(self->device_windows);
	while (self->events) {
		struct noted_event *noted = self->events;

		self->events = noted->next;
		free(noted);
	}
	recorder_output_done(&self->output);
	pthread_mutex_destroy(&self->lock);
	free(self);
}
