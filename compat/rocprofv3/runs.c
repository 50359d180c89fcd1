/*
 * Attaches or starts programs, as the command line says.
 */
#include "runs.h"

#include "host/process/forks/scope.h"

#include <sys/wait.h>

int run_prepare(struct terminal_run *run, struct profile *profile, struct profile_job *job,
		struct err *err)
{
	int r = profile_pid(profile, &job->pid, err);

	if (!r)
		r = profile_duration(profile, &job->duration_ns, err);
	if (!r)
		r = profile_finish(profile, err);
	if (!r && profile->has_children)
		r = scope_confirm(&job->pid, 1, &profile->all_descendants, err);
	if (!r)
		r = run->signals = ending_prepare(err);
	run->waits_for_enter = job->duration_ns == UINT64_MAX;
	return MIN(r, 0);
}

int run_launch(struct terminal_run *run, struct profile *profile, char **command,
	       struct profile_job *job, struct launch *ret, struct results *results,
	       struct err *err)
{
	struct launched launched;
	int r = profile_finish(profile, err);

	*ret = (struct launch){ 0 };
	if (!r)
		r = launched_start(&launched, command, /* loads_library */ true, err);
	if (r)
		return r;
	run->launched = &launched;
	job->pid = launched.launch.pid;
	job->doorstep = launched.launch.doorstep;
	job->duration_ns = UINT64_MAX;
	r = profile_job_run(job, results, err);
	launched_finish(&launched);
	run->launched = NULL;
	*ret = launched.launch;
	return r;
}

int run_status(const struct launch *program)
{
	return WIFSIGNALED(program->status) ? 128 + WTERMSIG(program->status)
					    : WEXITSTATUS(program->status);
}

enum ending run_wait(const struct terminal_run *run, int pidfd, uint64_t time_ns)
{
	return run->launched ? launched_wait(run->launched, time_ns)
			     : ending_wait(run->signals, pidfd, time_ns);
}
