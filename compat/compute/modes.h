/*
 * The modes of rocprof-compute.
 */
#pragma once

#include "options.h"
#include "say.h"

/* *ret_status: of the program that was started. */
int profile_mode_run(const struct compute_options *options, struct speaker *speaker,
		     int *ret_status, struct err *err) MUST_CHECK;

/* argv: the program's own.  Where AMD's program is installed, this becomes it. */
int analyze_mode_run(const struct compute_options *options, char **argv, struct speaker *speaker,
		     struct err *err) MUST_CHECK;
