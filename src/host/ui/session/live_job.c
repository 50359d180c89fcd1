/*
 * Records live sessions.
 */
#include "host/ui/session/live_job.h"

#include "host/core/cleanup.h"
#include "host/recording/facts.h"
#include "host/recording/recording.h"
#include "host/top/live.h"
#include "host/top/thread_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct live_job {
	struct live *live;
	pthread_mutex_t lock;       /* guards the next two against its end */
	struct background_job *job; /* NULL: it has ended */
	struct background_state last;
	struct background_options options;
	struct sampling_options sampling;
	pid_t pid;
	bool is_kept;
	int file;            /* a descriptor of limpet's; -1: the file is opened by its path */
	char path[PATH_MAX]; /* of the file */
	char reachable[64];  /* the same, of one in memory */
};

static int job_take_sample(void *context, const struct sample *sample, struct space *space)
{
	const struct live_job *self = context;

	return live_take(self->live, sample, space);
}

static int job_take_process(void *context, const struct sampled_process *process)
{
	const struct live_job *self = context;

	return live_process(self->live, process);
}

/* Two descriptors: one is the recorder's, the other one stays here. */
static int file_share(struct live_job *self, int fd, struct err *err)
{
	self->file = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	self->options.recorder.is_path_new = true;
	self->options.recorder.new_file = fd;
	if (self->file >= 0)
		return 0;
	close(fd);
	return err_set(err, -errno, "recording: %s", strerror(errno));
}

/* Its path is one that no file of the user's can have: nothing is ever unlinked by it. */
static int memory_make(struct live_job *self, struct err *err)
{
	int fd = memfd_create("limpet-recording", MFD_CLOEXEC), r;

	if (fd < 0)
		return err_set(err, -errno, "recording: %s", strerror(errno));
	r = file_share(self, fd, err);
	snprintf(self->reachable, sizeof(self->reachable), "/proc/self/fd/%d", self->file);
	self->options.recorder.path = self->reachable;
	self->options.times.max_bytes = LIVE_JOB_BYTES_MAX;
	return r;
}

static int unused_make(struct live_job *self, struct err *err)
{
	int fd = recording_unused_path(self->pid, self->path, sizeof(self->path), err);

	self->options.recorder.path = self->path;
	return fd < 0 ? fd : file_share(self, fd, err);
}

static int file_make(struct live_job *self, struct err *err)
{
	const char *path = self->options.recorder.path;

	if (!self->is_kept)
		return memory_make(self, err);
	if (!path)
		return unused_make(self, err);
	if ((size_t)snprintf(self->path, sizeof(self->path), "%s", path) >= sizeof(self->path))
		return err_set(err, -ENAMETOOLONG, "'%s' is too long", path);
	self->options.recorder.path = self->path;
	return 0;
}

static void options_fill(struct live_job *self, const struct live_job_options *given)
{
	self->options = given->job;
	self->pid = given->job.recorder.pids[0];
	self->options.recorder.pids = &self->pid;
	self->options.recorder.pid_count = 1;
	self->options.recorder.sampling = NULL;
	if (!given->sampling)
		return;
	self->sampling = *given->sampling;
	self->sampling.observe = job_take_sample;
	self->sampling.observe_process = job_take_process;
	self->sampling.context = self;
	self->options.recorder.sampling = &self->sampling;
}

int live_job_start(struct live_job **ret, const struct live_job_options *options, struct err *err)
{
	struct live_job *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "recording: no memory");
	pthread_mutex_init(&self->lock, NULL);
	self->live = options->live;
	self->is_kept = options->is_kept;
	self->file = -1;
	options_fill(self, options);
	r = file_make(self, err);
	if (!r)
		r = background_job_start(&self->job, &self->options, err);
	if (r)
		live_job_free(self);
	else
		*ret = self;
	return r;
}

static bool job_find_name(void *context, pid_t pid, pid_t tid, struct watched_thread *ret)
{
	struct live_job *self = context;
	bool is_known;

	pthread_mutex_lock(&self->lock);
	is_known = self->job && background_job_python_thread(self->job, pid, tid, ret);
	pthread_mutex_unlock(&self->lock);
	return is_known;
}

struct thread_namer live_job_namer(struct live_job *job)
{
	return (struct thread_namer){ job_find_name, job };
}

void live_job_look(struct live_job *self, struct live_job_facts *ret)
{
	pthread_mutex_lock(&self->lock);
	if (self->job)
		background_job_look(self->job, &self->last);
	*ret = (struct live_job_facts){
		.state = self->last,
		.path = self->is_kept ? self->path : "",
		.calls = self->last.traced.collected.records,
		.dropped = drops_sum(self->last.traced.collected.drops),
	};
	pthread_mutex_unlock(&self->lock);
}

int live_job_end(struct live_job *self, struct err *err)
{
	struct recorder_outcome outcome;
	struct background_job *job;
	int r = 0;

	pthread_mutex_lock(&self->lock);
	job = TAKE(self->job);
	pthread_mutex_unlock(&self->lock);
	if (job) {
		struct background_state last;

		background_job_halt(job);
		background_job_look(job, &last);
		r = background_job_stop(job, /* gives_up */ false, &outcome, err);
		pthread_mutex_lock(&self->lock);
		self->last = last;
		self->last.bytes = outcome.written.bytes;
		pthread_mutex_unlock(&self->lock);
	}
	return r;
}

void live_job_free(struct live_job *self)
{
	struct err ignored = { 0 };

	if (!self)
		return;
	(void)!live_job_end(self, &ignored);
	if (self->file >= 0)
		close(self->file);
	pthread_mutex_destroy(&self->lock);
	free(self);
}

/* Only a regular file: bytes read from a pipe would be lost to its reader. */
static int named_open(const char *path)
{
	CLEANUP(close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat facts;

	if (fd < 0 || fstat(fd, &facts) < 0)
		return -errno;
	return S_ISREG(facts.st_mode) ? TAKE_FD(fd) : -EINVAL;
}

/* With a position of its own. */
int live_job_file(const struct live_job *self)
{
	char path[64];
	int fd;

	if (self->file < 0)
		return named_open(self->path);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
