/*
 * Jobs of a program on a terminal: on a process that runs, or on a program that is started for it.
 */
#pragma once

#include "host/attach/launch/launched.h"
#include "host/rocprofv3/job.h"

struct terminal_run {
	int signals;               /* of ending_prepare() */
	struct launched *launched; /* NULL: the process was there before */
	bool waits_for_enter;
};

/* Finishes the profile and makes the job ready for profile_job_run().  Asks on a terminal whether
 * it may reach very many descendants. */
int run_prepare(struct terminal_run *run, struct profile *profile, struct profile_job *job,
		struct err *err) MUST_CHECK;

/* Finishes the profile, starts the program and runs the job on it.  *ret: the program as it ended;
 * its pid is 0 where it could not be started. */
int run_launch(struct terminal_run *run, struct profile *profile, char **command,
	       struct profile_job *job, struct launch *ret, struct results *results,
	       struct err *err) MUST_CHECK;

/* The exit status of the program, in a shell's form. */
int run_status(const struct launch *program);

/* For the job's listener. */
enum ending run_wait(const struct terminal_run *run, int pidfd, uint64_t time_ns);
