/*
 * Waits, records, and again; then writes.  The recordings lie in a temporary folder, which stays
 * only where files could not be made of them.
 */
#include "job.h"

#include "host/core/clock.h"
#include "host/process/process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GLANCE_NS 100000000ull

struct running {
	const struct job *job;
	struct family *family;
	int pidfd;
	uint64_t end_ns; /* of all */
	bool is_over, has_begun;
	char folder[256];
};

static int make_folder(struct running *self, struct err *err)
{
	const char *places[] = { secure_getenv("ROCPROF_TMPDIR"), secure_getenv("TMPDIR"), "/tmp" };
	size_t i = 0;

	while (!places[i] || !places[i][0])
		i++;
	errno = ENAMETOOLONG; /* unless mkdtemp() says otherwise */
	if ((size_t)snprintf(self->folder, sizeof(self->folder), "%s/rocprofv3-XXXXXX",
			     places[i]) >= sizeof(self->folder) ||
	    !mkdtemp(self->folder)) {
		err_set(err, -errno, "make a folder in '%s': %s", places[i], strerror(errno));
		err_fix(err, "ROCPROF_TMPDIR=FOLDER names another place for recordings");
		self->folder[0] = 0;
		return err->code;
	}
	return 0;
}

static uint64_t later(uint64_t begin_ns, uint64_t time_ns)
{
	return time_ns > UINT64_MAX - begin_ns ? UINT64_MAX : begin_ns + time_ns;
}

/* For that long, or until it is all over. */
static int stay(struct running *self, uint64_t time_ns, struct err *err)
{
	const struct face *face = self->job->face;
	uint64_t end_ns = MIN(later(now_ns(), time_ns), self->end_ns);
	int r = 0;

	while (!r && !self->is_over && now_ns() < end_ns) {
		uint64_t left_ns = end_ns - now_ns();
		enum ending ending =
			face->wait(face->context, self->pidfd, MIN(GLANCE_NS, left_ns));

		self->is_over = ending != ENDING_DURATION;
		r = family_check(self->family, err);
	}
	if (r || now_ns() >= self->end_ns)
		self->is_over = true;
	return r;
}

static void tell_begun(struct running *self)
{
	if (!self->has_begun)
		self->job->face->begun(self->job->face->context);
	self->has_begun = true;
}

static int record_once(struct running *self, uint64_t time_ns, struct err *err)
{
	struct err second = { 0 };
	int r = family_begin(self->family, err), left_well;

	if (r)
		return r;
	tell_begun(self);
	r = stay(self, time_ns, err);
	left_well = family_pause(self->family, r ? &second : err);
	return r ? r : left_well;
}

static int record_period(struct running *self, const struct period *period, struct err *err)
{
	int r = 0;

	for (uint64_t i = 0; !r && !self->is_over && (!period->repeat || i < period->repeat); i++) {
		if (period->delay_ns) {
			tell_begun(self);
			r = stay(self, period->delay_ns, err);
		}
		if (!r && !self->is_over)
			r = record_once(self, period->time_ns, err);
	}
	return r;
}

static bool has_ended(const struct running *self)
{
	struct pollfd ended = { self->pidfd, POLLIN, 0 };

	return self->pidfd >= 0 && poll(&ended, 1, 0) == 1;
}

static int record(struct running *self, struct err *err)
{
	const struct periods *periods = &self->job->profile->periods;
	int r = 0;

	self->end_ns = later(now_ns(), self->job->duration_ns);
	for (size_t i = 0; !r && !self->is_over && i < periods->count; i++)
		r = record_period(self, &periods->items[i], err);
	if (r && self->has_begun && has_ended(self)) {
		*err = (struct err){ 0 }; /* an ending like others */
		r = 0;
	}
	return r;
}

static int write_files(struct running *self, struct results *ret, struct err *err)
{
	const struct job *job = self->job;
	int r = results_write(self->family, job->profile, job->face, ret, err);

	if (!r && !ret->events)
		face_say(job->face, SAY_WARNING,
			 "the trace is empty: nothing of what was asked for was called, or ended, "
			 "in process %d meanwhile",
			 job->pid);
	return r;
}

static int open_family(struct running *self, const char *const *variables, struct err *err)
{
	const struct job *job = self->job;
	struct family_options options = {
		.root = job->pid,
		.doorstep = job->doorstep,
		.has_children = job->profile->has_children,
		.tools = job->tools,
		.tool_count = job->tool_count,
		.domains = job->profile->domains,
		.variables = variables,
		.folder = self->folder,
		.face = job->face,
	};

	return family_open(&self->family, &options, err);
}

/* Recordings of which no files could be made are kept: nothing else has what was recorded. */
static void clean_up(struct running *self, bool keeps)
{
	if (keeps && self->folder[0])
		face_say(self->job->face, SAY_WARNING,
			 "the recordings are kept in %s (limpet export makes files of them)",
			 self->folder);
	family_free(self->family, keeps);
	if (!keeps && self->folder[0])
		rmdir(self->folder);
	if (self->pidfd >= 0)
		close(self->pidfd);
}

static int check_process(pid_t pid, struct err *err)
{
	struct process process;
	int r = process_read(pid, &process, err);

	if (!r)
		process_done(&process);
	return r;
}

/* A set of AMD's is wider than ours: said, since nobody named its parts. */
static void tell_width(const struct job *job)
{
	if (job->profile->is_wide)
		face_say(job->face, SAY_WARNING,
			 "--sys-trace and --runtime-trace are without KFD, OMPT, rocDecode, "
			 "rocJPEG, rocSHMEM and hipFile: limpet does not trace them");
}

int job_run(const struct job *job, struct results *ret, struct err *err)
{
	struct running self = { .job = job, .pidfd = (int)syscall(SYS_pidfd_open, job->pid, 0) };
	struct results_variables variables;
	struct err second = { 0 };
	bool keeps = false;
	int r = check_process(job->pid, err);

	*ret = (struct results){ 0 };
	tell_width(job);
	results_find_variables(job->profile, &variables);
	if (!r)
		r = make_folder(&self, err);
	if (!r)
		r = open_family(&self, variables.names, err);
	if (!r) {
		r = record(&self, err);
		if (family_end(self.family, r ? &second : err) && !r)
			r = err->code;
		/* Also after a failure: what was recorded until then is there. */
		if (self.has_begun && write_files(&self, ret, r ? &second : err)) {
			keeps = true;
			r = r ? r : err->code;
		}
	}
	clean_up(&self, keeps);
	return r;
}
