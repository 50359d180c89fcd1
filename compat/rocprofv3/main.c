/*
 * rocprofv3: AMD's command line, for processes that run and for programs to start.  Ends with 0 or
 * 1, or with the status of the program, as AMD's does.
 */
#include "arguments.h"
#include "environment.h"
#include "help.h"
#include "host/attach/launch/launched.h"
#include "host/core/self/environment.h"
#include "host/core/text/print.h"
#include "host/process/forks/scope.h"
#include "input.h"
#include "profiling.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef LIMPET_VERSION
#error "the build gives it"
#endif

static const char *const level_names[] = { "fatal", "error", "warning", "info", "trace" };

struct program {
	enum say_level level;
	int signals;
	pid_t pid;
	bool waits_for_enter;
	struct launched *launched; /* NULL: the process was there before */
	int status;                /* of the program that was started */
};

static void message_print(void *context, enum say_level level, const char *text)
{
	const struct program *self = context;

	fflush(stdout);
	if (level > self->level)
		return;
	print(stderr, "rocprofv3: %s: ", level_names[level]);
	print_lines(stderr, text);
	fputc('\n', stderr);
}

static enum ending wait_attached(void *context, int pidfd, uint64_t time_ns)
{
	const struct program *self = context;

	return ending_wait(self->signals, pidfd, time_ns);
}

static void attached_print(void *context)
{
	const struct program *self = context;

	print(stdout, "Attaching to PID %d :: success\n", self->pid);
	if (self->waits_for_enter)
		print(stdout, "Press Enter to detach...\n");
	fflush(stdout);
}

static void file_print(void *context, const char *path)
{
	const struct program *self = context;

	if (self->level >= SAY_WARNING)
		print(stderr, "Opened result file: %s\n", path);
}

/* "env" and no option: from the variables. */
static enum say_level read_level(const char *name)
{
	static const char *const variables[] = { "ROCPROF_LOG_LEVEL", "ROCPROF_LOGGING_LEVEL" };

	for (size_t i = 0; i < ARRAY_SIZE(variables) && (!name || !strcmp(name, "env")); i++)
		if (secure_getenv(variables[i]))
			name = secure_getenv(variables[i]);
	for (size_t i = 0; name && i < ARRAY_SIZE(level_names); i++)
		if (!strcasecmp(name, level_names[i]))
			return (enum say_level)i;
	return name && !strcmp(name, "config") ? SAY_INFO : SAY_WARNING;
}

static int attach_run(struct program *self, struct profile *profile, const struct face *face,
		      struct err *err)
{
	struct profiling job = { .profile = profile, .face = face };
	struct results results;
	int r = profile_pid(profile, &job.pid, err);

	if (!r)
		r = profile_duration(profile, &job.duration_ns, err);
	if (!r)
		r = profile_finish(profile, err);
	if (!r && profile->has_children)
		r = scope_confirm(&job.pid, 1, &profile->all_descendants, err);
	if (!r)
		r = self->signals = ending_prepare(err);
	if (r < 0)
		return r;
	self->pid = job.pid;
	self->waits_for_enter = job.duration_ns == UINT64_MAX;
	print(stdout, "Attaching to PID %d\n", job.pid);
	fflush(stdout);
	r = profiling_run(&job, &results, err);
	if (!r)
		print(stdout,
		      results.has_ended ? "PID %d has ended\n"
					: "Detaching from PID %d :: success\n",
		      job.pid);
	return r;
}

static enum ending wait_launched(void *context, int pidfd, uint64_t time_ns)
{
	const struct program *self = context;

	(void)pidfd; /* it is that of the program */
	return launched_wait(self->launched, time_ns);
}

static void let_begin(void *context)
{
	struct program *self = context;
	struct err err;

	if (launch_let_go(&self->launched->launch, &err))
		message_print(self, SAY_ERROR, err.what);
}

/* In a shell's form. */
static int status_of(const struct launch *program)
{
	return WIFSIGNALED(program->status) ? 128 + WTERMSIG(program->status)
					    : WEXITSTATUS(program->status);
}

static void tell_end(const struct face *face, const struct launch *program)
{
	char buffer[96];

	if (!program->is_let_go)
		face_say(face, SAY_ERROR, "the program was not run");
	else if (program->status)
		face_say(face, SAY_WARNING, "the program ended: %s",
			 launch_describe(program, buffer, sizeof(buffer)));
}

/* Several jobs have a folder each, as in AMD's. */
static int choose_folder(struct profile *profile, struct err *err)
{
	const char *folder = profile->output.directory ? profile->output.directory : ".";
	char path[PATH_MAX];

	if (profile->job_count < 2)
		return 0;
	snprintf(path, sizeof(path), "%s/pass_%u", folder, profile->job + 1);
	profile->output.directory = profile_keep(profile, path, sizeof(path));
	return profile->output.directory ? 0 : err_set(err, -ENOMEM, "no memory for options");
}

static int refuse_both(struct err *err)
{
	err_set(err, -EINVAL, "both a process and a program to start are given");
	err_fix(err, "rocprofv3 --attach PID [options], or: rocprofv3 [options] -- PROGRAM ...");
	return err_exit(err, EXIT_USAGE);
}

/* Not with rights that the program must not have, nor as one job of several. */
static bool may_run_untraced(const struct profile *profile)
{
	return !profile_asks(profile) && profile->job_count < 2 && !getauxval(AT_SECURE);
}

/* As AMD's program does it: a warning, and the program runs. */
static int run_untraced(const struct face *face, char **command, struct err *err)
{
	face_say(face, SAY_WARNING, "no trace was requested: the program runs untraced");
	execvp(command[0], command);
	return err_set(err, -errno, "run '%s': %s", command[0], strerror(errno));
}

static int launch_run(struct program *self, struct profile *profile, struct err *err)
{
	struct face face = { message_print, wait_launched, let_begin, file_print, self };
	struct profiling job = { .profile = profile, .face = &face, .duration_ns = UINT64_MAX };
	struct launched launched;
	struct results results;
	int r = profile->pid ? refuse_both(err) : choose_folder(profile, err);

	if (!r && may_run_untraced(profile))
		return run_untraced(&face, profile->command, err);
	if (!r)
		r = profile_finish(profile, err);
	if (!r)
		r = launched_start(&launched, profile->command, /* loads_library */ true, err);
	if (r)
		return r;
	self->launched = &launched;
	job.pid = launched.launch.pid;
	job.doorstep = launched.launch.doorstep;
	r = profiling_run(&job, &results, err);
	launched_finish(&launched);
	tell_end(&face, &launched.launch);
	self->status = launched.launch.is_let_go ? status_of(&launched.launch) : EXIT_FAILURE;
	return r;
}

static int read_profile(char **argv, unsigned number, struct profile *ret, struct err *err)
{
	int r;

	profile_init(ret);
	ret->has_children = true;
	ret->job = number;
	r = environment_read_output(ret, err);
	if (!r)
		r = arguments_read(ret, argv, err);
	return r ? r : input_read(ret, err);
}

static int job_run(struct program *self, struct profile *profile, const struct face *face,
		   struct err *err)
{
	if (profile->shows_help)
		help_print(stdout);
	else if (profile->lists)
		help_list(stdout, profile->config_folder);
	else if (profile->shows_version)
		print(stdout, "rocprofv3 of limpet %s\n", LIMPET_VERSION);
	else
		return profile->command ? launch_run(self, profile, err)
					: attach_run(self, profile, face, err);
	return 0;
}

/* One job after the other, until one fails. */
static int run_jobs(struct program *self, char **argv, const struct face *face, struct err *err)
{
	struct profile profile;
	unsigned count = 1;
	int r = 0;

	for (unsigned i = 0; !r && !self->status && i < count; i++) {
		r = read_profile(argv, i, &profile, err);
		self->level = read_level(profile.log_level);
		if (!r)
			r = job_run(self, &profile, face, err);
		count = MAX(count, profile.job_count);
		profile_done(&profile);
	}
	return r;
}

static void on_limit(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	struct program self = { .level = SAY_WARNING, .signals = -1 };
	struct face face = { message_print, wait_attached, attached_print, file_print, &self };
	struct err err = { 0 };
	int r;

	(void)argc;
	environment_distrust();
	/* The limit of file sizes shall be an error, not end this program; programs that it starts
	 * must not inherit that. */
	if (signal(SIGXFSZ, on_limit) == SIG_IGN)
		signal(SIGXFSZ, SIG_IGN);
	r = run_jobs(&self, argv + 1, &face, &err);
	if (r)
		face_say_error(&face, SAY_ERROR, &err);
	return r && !self.status ? EXIT_FAILURE : self.status;
}
