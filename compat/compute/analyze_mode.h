/*
 * rocprof-compute analyze.
 */
#pragma once

#include "options.h"
#include "say.h"

/* argv: the program's own.  Where AMD's program is installed, this becomes it. */
int analyze_mode_run(const struct compute_options *options, char **argv, struct speaker *speaker,
		     struct err *err) MUST_CHECK;
