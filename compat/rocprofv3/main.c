/*
 * rocprofv3: AMD's command line for processes that run.  Ends with 0 or 1, as AMD's does.
 */
#include "arguments.h"
#include "help.h"
#include "input.h"
#include "job.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifndef LIMPET_VERSION
#error "the build gives it"
#endif

static const char *const level_names[] = { "fatal", "error", "warning", "info", "trace" };

struct program {
	enum say_level level;
	int signals;
	pid_t pid;
	bool waits_for_enter;
};

static void say(void *context, enum say_level level, const char *text)
{
	const struct program *self = context;

	fflush(stdout);
	if (level <= self->level)
		fprintf(stderr, "rocprofv3: %s: %s\n", level_names[level], text);
}

static enum ending wait(void *context, int pidfd, uint64_t time_ns)
{
	const struct program *self = context;

	return ending_wait(self->signals, pidfd, time_ns);
}

static void begun(void *context)
{
	const struct program *self = context;

	printf("Attaching to PID %d :: success\n", self->pid);
	if (self->waits_for_enter)
		printf("Press Enter to detach...\n");
	fflush(stdout);
}

static void file(void *context, const char *path)
{
	const struct program *self = context;

	if (self->level >= SAY_WARNING)
		fprintf(stderr, "Opened result file: %s\n", path);
}

/* "env" and no option: what the variables say. */
static enum say_level read_level(const char *name)
{
	static const char *const variables[] = { "ROCPROF_LOG_LEVEL", "ROCPROF_LOGGING_LEVEL" };

	for (size_t i = 0; i < ARRAY_SIZE(variables) && (!name || !strcmp(name, "env")); i++)
		if (getenv(variables[i]))
			name = getenv(variables[i]);
	for (size_t i = 0; name && i < ARRAY_SIZE(level_names); i++)
		if (!strcasecmp(name, level_names[i]))
			return (enum say_level)i;
	return name && !strcmp(name, "config") ? SAY_INFO : SAY_WARNING;
}

static int attach(struct program *self, struct profile *profile, const struct face *face,
		  struct err *err)
{
	struct job job = { .profile = profile, .face = face };
	struct results results;
	int r = profile_pid(profile, &job.pid, err);

	if (!r)
		r = profile_duration(profile, &job.duration_ns, err);
	if (!r)
		r = profile_finish(profile, err);
	if (!r)
		r = self->signals = ending_prepare(err);
	if (r < 0)
		return r;
	self->pid = job.pid;
	self->waits_for_enter = job.duration_ns == UINT64_MAX;
	printf("Attaching to PID %d\n", job.pid);
	fflush(stdout);
	r = job_run(&job, &results, err);
	if (!r)
		printf("Detaching from PID %d :: success\n", job.pid);
	return r;
}

static int run(struct program *self, char **argv, struct profile *profile, const struct face *face,
	       struct err *err)
{
	int r = arguments_read(profile, argv, err);

	if (!r)
		r = input_read(profile, err);
	self->level = read_level(profile->log_level);
	if (r)
		return r;
	if (profile->shows_help || profile->lists)
		(profile->shows_help ? help_print : help_list)(stdout);
	else if (profile->shows_version)
		printf("rocprofv3 of limpet %s\n", LIMPET_VERSION);
	else
		return attach(self, profile, face, err);
	return 0;
}

static void on_limit(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	struct program self = { .level = SAY_WARNING, .signals = -1 };
	struct face face = { say, wait, begun, file, &self };
	struct profile profile;
	struct err err = { 0 };
	int r;

	(void)argc;
	/* The limit of file sizes is an error, not our death; programs that we start must not
	 * inherit that. */
	if (signal(SIGXFSZ, on_limit) == SIG_IGN)
		signal(SIGXFSZ, SIG_IGN);
	profile_init(&profile);
	profile.has_children = true;
	r = run(&self, argv + 1, &profile, &face, &err);
	if (r)
		face_say_error(&face, SAY_ERROR, &err);
	profile_done(&profile);
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}
