/*
 * Runs the recorder: each sample is added to the live store.
 */
#include "host/live/source.h"

#include "host/core/cleanup.h"
#include "host/live/live.h"
#include "host/recording/facts.h"
#include "host/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct source {
	pthread_mutex_t lock;       /* guards the next two against its end */
	struct background_job *job; /* NULL: it has ended */
	struct background_state state;
	struct background_options options;
	struct sampling_options sampling;
	pid_t *pids;
	bool is_kept;
	int file;            /* a descriptor of limpet's; -1: the file is opened by its path */
	char path[PATH_MAX]; /* of the file; "": there is none */
};

/* Two descriptors: one is the recorder's, the other one stays here. */
static int file_share(struct source *self, int fd, struct err *err)
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
static int memory_make(struct source *self, struct err *err)
{
	int fd = memfd_create("limpet-recording", MFD_CLOEXEC), r;

	if (fd < 0)
		return err_set(err, -errno, "recording: %s", strerror(errno));
	r = file_share(self, fd, err);
	snprintf(self->path, sizeof(self->path), "/proc/self/fd/%d", self->file);
	self->options.times.max_bytes = SOURCE_BYTES_MAX;
	return r;
}

static int file_make(struct source *self, struct err *err)
{
	const char *path = self->options.recorder.path;
	int fd;

	self->options.recorder.path = self->path;
	if (!self->is_kept)
		return memory_make(self, err);
	if (!path) {
		fd = recording_unused_path(self->pids[0], self->path, sizeof(self->path), err);
		return fd < 0 ? fd : file_share(self, fd, err);
	}
	if ((size_t)snprintf(self->path, sizeof(self->path), "%s", path) >= sizeof(self->path))
		return err_set(err, -ENAMETOOLONG, "'%s' is too long", path);
	return 0;
}

static struct source *source_new(const struct background_options *options,
				 const struct sampling_options *sampling, struct live *live)
{
	struct source *self = calloc(1, sizeof(*self));
	const struct recorder_options *recorder = &options->recorder;

	if (!self)
		return NULL;
	pthread_mutex_init(&self->lock, NULL);
	self->file = -1;
	self->options = *options;
	self->pids = calloc(recorder->pid_count + 1, sizeof(*self->pids));
	if (!self->pids) {
		source_free(self);
		return NULL;
	}
	memcpy(self->pids, recorder->pids, recorder->pid_count * sizeof(*self->pids));
	self->options.recorder.pids = self->pids;
	if (sampling) {
		self->sampling = *sampling;
		live_observe(live, &self->sampling);
		self->options.recorder.sampling = &self->sampling;
	}
	return self;
}

/* The recording's file is made where it has one. */
static int source_open(struct source **ret, struct live *live, const struct source_options *options,
		       bool has_file, struct err *err)
{
	struct source *self = source_new(&options->job, options->sampling, live);
	int r = 0;

	if (!self)
		return err_set(err, -ENOMEM, "recording: no memory");
	if (has_file) {
		self->is_kept = options->is_kept;
		r = file_make(self, err);
	}
	if (!r)
		r = background_job_start(&self->job, &self->options, err);
	if (r)
		source_free(self);
	else
		*ret = self;
	return r;
}

int source_start(struct source **ret, struct live *live, const struct sampling_options *sampling,
		 struct err *err)
{
	const struct sampler_options *sampler = &sampling->sampler;
	CLEANUP(free) pid_t *pids = calloc(sampler->further_count + 1, sizeof(*pids));
	const struct source_options options = {
		.job = { .recorder = { .pids = pids,
				       .pid_count = sampler->pid ? sampler->further_count + 1 : 0,
				       .has_children = sampler->children,
				       .is_system_wide = sampler->is_system_wide },
			 .times.duration_ns = UINT64_MAX },
		.sampling = sampling,
	};

	if (!pids)
		return err_set(err, -ENOMEM, "sample: no memory");
	pids[0] = sampler->pid;
	if (sampler->further_count)
		memcpy(pids + 1, sampler->further, sampler->further_count * sizeof(*pids));
	return source_open(ret, live, &options, /* has_file */ false, err);
}

int source_record(struct source **ret, struct live *live, const struct source_options *options,
		  struct err *err)
{
	return source_open(ret, live, options, /* has_file */ true, err);
}

void source_query(struct source *self, struct source_facts *ret)
{
	const struct background_state *state = &self->state;

	pthread_mutex_lock(&self->lock);
	if (self->job)
		background_job_query(self->job, &self->state);
	*ret = (struct source_facts){
		.sampler = state->sampled.sampler,
		.summary = state->sampled.summary,
		.lost = state->sampled.counts.lost,
		.throttled = state->sampled.counts.throttled,
		.is_running = state->is_running,
		.has_ended = state->has_ended,
		.samples = state->sampled.counts.samples,
		.calls = state->traced.collected.records,
		.dropped = drops_sum(state->traced.collected.drops),
		.bytes = state->bytes,
		.path = self->is_kept ? self->path : "",
		.error = state->err,
	};
	memcpy(ret->reasons, state->sampled.reasons, sizeof(ret->reasons));
	if (state->is_full)
		err_set(&ret->error, -EFBIG,
			"what is recorded in memory has %llu MiB, and no more is taken",
			(unsigned long long)SOURCE_BYTES_MAX >> 20);
	pthread_mutex_unlock(&self->lock);
}

bool source_python_thread(struct source *self, pid_t pid, pid_t tid, struct watched_thread *ret)
{
	bool is_known;

	if (!self)
		return false;
	pthread_mutex_lock(&self->lock);
	is_known = self->job && background_job_python_thread(self->job, pid, tid, ret);
	pthread_mutex_unlock(&self->lock);
	return is_known;
}

void source_stop(struct source *self)
{
	if (self->job)
		background_job_halt(self->job);
}

int source_end(struct source *self, struct err *err)
{
	struct recorder_outcome outcome;
	struct background_job *job;
	int r;

	source_stop(self);
	pthread_mutex_lock(&self->lock);
	job = TAKE(self->job);
	if (job)
		background_job_query(job, &self->state);
	pthread_mutex_unlock(&self->lock);
	if (!job)
		return 0;
	r = background_job_stop(job, /* gives_up */ false, &outcome, err);
	pthread_mutex_lock(&self->lock);
	if (self->path[0])
		self->state.bytes = outcome.written.bytes;
	pthread_mutex_unlock(&self->lock);
	return r;
}

void source_free(struct source *self)
{
	struct err ignored = { 0 };

	if (!self)
		return;
	(void)!source_end(self, &ignored);
	if (self->file >= 0)
		close(self->file);
	pthread_mutex_destroy(&self->lock);
	free(self->pids);
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
int source_file(const struct source *self)
{
	char path[64];
	int fd;

	if (self->file < 0)
		return named_open(self->path);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
