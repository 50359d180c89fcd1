/*
 * The variables that configure AMD's tool: ROCPROF_HIP_RUNTIME_API_TRACE and so on.
 */
#pragma once

#include "host/rocprofv3/settings.h"

/* Called with notes about variables without effect. */
typedef void environment_note(void *context, const char *note);

/* The texts are copied: the caller may change its environment.  environment: "NAME=VALUE" texts up
 * to NULL. */
int environment_read(struct profile *profile, char *const *environment, environment_note *note,
		     void *context, struct err *err) MUST_CHECK;

/* Only the folder, names and formats of files: the other variables are for the attach libraries,
 * not for the command. */
int environment_read_output(struct profile *profile, struct err *err) MUST_CHECK;
