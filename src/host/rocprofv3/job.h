/*
 * One process, or its family, from attaching to the last file.
 */
#pragma once

#include "host/rocprofv3/results.h"

struct profile_job {
	pid_t pid;
	uint64_t doorstep;    /* where it waits, if it was started for this; 0 */
	uint64_t duration_ns; /* UINT64_MAX: until the listener's wait ends it */
	const struct profile *profile;
	const char *const *tools; /* to be attached too, each a library */
	size_t tool_count;
	const char *version; /* of limpet */
	const struct job_listener *listener;
};

/* 0 also for an empty recording, with a note.  ret may be all 0. */
int profile_job_run(const struct profile_job *job, struct results *ret, struct err *err) MUST_CHECK;
