/*
 * rocprofv3: AMD's command line, for processes that run and for programs to start.  Ends with 0 or
 * 1, or with the status of the program, as AMD's does.
 */
#include "arguments.h"
#include "host/core/self/environment.h"
#include "host/core/text/print.h"
#include "host/rocprofv3/environment.h"
#include "input.h"
#include "runs.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef LIMPET_VERSION
#error "the build gives it"
#endif

static const char *const level_names[] = { "fatal", "error", "warning", "info", "trace" };

struct program {
	enum say_level level;
	struct terminal_run run;
	pid_t pid;
	int status; /* of the program that was started */
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

static enum ending ending_await(void *context, int pidfd, uint64_t time_ns)
{
	const struct program *self = context;

	return run_wait(&self->run, pidfd, time_ns);
}

static void on_begin(void *context)
{
	const struct program *self = context;
	struct err err;

	if (self->run.launched) {
		if (launch_release(&self->run.launched->launch, &err))
			message_print(context, SAY_ERROR, err.what);
		return;
	}
	print(stdout, "Attaching to PID %d :: success\n", self->pid);
	if (self->run.waits_for_enter)
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
static enum say_level level_read(const char *name)
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

static int attach_run(struct program *self, struct profile *profile,
		      const struct job_listener *listener, struct err *err)
{
	struct profile_job job = { .profile = profile,
				   .version = LIMPET_VERSION,
				   .listener = listener };
	struct results results;
	int r = run_prepare(&self->run, profile, &job, err);

	if (r)
		return r;
	self->pid = job.pid;
	print(stdout, "Attaching to PID %d\n", job.pid);
	fflush(stdout);
	r = profile_job_run(&job, &results, err);
	if (!r)
		print(stdout,
		      results.has_ended ? "PID %d has ended\n"
					: "Detaching from PID %d :: success\n",
		      job.pid);
	return r;
}

static void end_report(const struct job_listener *listener, const struct launch *program)
{
	char buffer[96];

	if (!program->is_let_go)
		listener_say(listener, SAY_ERROR, "the program was not run");
	else if (program->status)
		listener_say(listener, SAY_WARNING, "the program ended: %s",
			     launch_describe(program, buffer, sizeof(buffer)));
}

/* Several jobs have a folder each, as in AMD's. */
static int folder_choose(struct profile *profile, struct err *err)
{
	const char *folder = profile->output.directory ? profile->output.directory : ".";
	char path[PATH_MAX];

	if (profile->job_count < 2)
		return 0;
	snprintf(path, sizeof(path), "%s/pass_%u", folder, profile->job + 1);
	profile->output.directory = profile_keep(profile, path, sizeof(path));
	return profile->output.directory ? 0 : err_set(err, -ENOMEM, "no memory for options");
}

static int launch_run(struct program *self, struct profile *profile,
		      const struct job_listener *listener, struct err *err)
{
	struct profile_job job = { .profile = profile,
				   .version = LIMPET_VERSION,
				   .listener = listener };
	char **command = profile->command;
	struct results results;
	struct launch program;
	int r;

	if (profile->pid) {
		return err_usage(err,
				 "rocprofv3 --attach PID [options], or: rocprofv3 [options] -- "
				 "PROGRAM ...",
				 "both a process and a program to start are given");
	}
	if (folder_choose(profile, err))
		return err->code;
	/* As AMD's program does it: a warning, and the program runs.  Not with rights that the
	 * program must not have, nor as one job of several. */
	if (!profile_asks(profile) && profile->job_count < 2 && !getauxval(AT_SECURE)) {
		listener_say(listener, SAY_WARNING,
			     "no trace was requested: the program runs untraced");
		execvp(command[0], command);
		return err_set(err, -errno, "run '%s': %s", command[0], strerror(errno));
	}
	r = run_launch(&self->run, profile, command, &job, &program, &results, err);
	if (!program.pid)
		return r;
	end_report(listener, &program);
	self->status = program.is_let_go ? run_status(&program) : EXIT_FAILURE;
	return r;
}

static int profile_read(char **argv, unsigned number, struct profile *ret, struct err *err)
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

static int job_run(struct program *self, struct profile *profile,
		   const struct job_listener *listener, struct err *err)
{
	if (profile->shows_help)
		help_print(stdout);
	else if (profile->lists)
		help_list(stdout, profile->config_folder);
	else if (profile->shows_version)
		print(stdout, "rocprofv3 of limpet %s\n", LIMPET_VERSION);
	else if (profile->command)
		return launch_run(self, profile, listener, err);
	else
		return attach_run(self, profile, listener, err);
	return 0;
}

/* One job after the other, until one fails. */
static int jobs_run(struct program *self, char **argv, const struct job_listener *listener,
		    struct err *err)
{
	struct profile profile;
	unsigned count = 1;
	int r = 0;

	for (unsigned i = 0; !r && !self->status && i < count; i++) {
		r = profile_read(argv, i, &profile, err);
		self->level = level_read(profile.log_level);
		if (!r)
			r = job_run(self, &profile, listener, err);
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
	struct program self = { .level = SAY_WARNING };
	const struct job_listener listener = { message_print, ending_await, on_begin, file_print,
					       &self };
	struct err err = { 0 };
	int r;

	(void)argc;
	environment_distrust();
	/* The limit of file sizes shall be an error, not end this program; programs that it starts
	 * must not inherit that. */
	if (signal(SIGXFSZ, on_limit) == SIG_IGN)
		signal(SIGXFSZ, SIG_IGN);
	r = jobs_run(&self, argv + 1, &listener, &err);
	if (r)
		listener_say_error(&listener, SAY_ERROR, &err);
	return r && !self.status ? EXIT_FAILURE : self.status;
}
