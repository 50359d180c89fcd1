/*
 * The variables by which AMD's tool is told what to do: ROCPROF_HIP_RUNTIME_API_TRACE and so on.
 */
#pragma once

#include "settings.h"

/* What a caller should know of variables that change nothing. */
typedef void environment_note(void *context, const char *note);

/* The texts are copied: the caller may change its environment.  environment: "NAME=VALUE" texts up
 * to NULL. */
int environment_read(struct profile *profile, char *const *environment, environment_note *note,
		     void *context, struct err *err) MUST_CHECK;

/* Only where the files go, how they are called and of which formats: the rest of the environment
 * tells the attach libraries what to do, not the command. */
int environment_read_output(struct profile *profile, struct err *err) MUST_CHECK;
