/*
 * Where the definitions of rocprof-compute are: AMD's own, of the one that is installed, or in a
 * folder that the user names.  limpet carries none: their numbers differ from release to release.
 */
#pragma once

#include "host/core/err.h"

struct compute_definitions {
	char reports[512];  /* a folder for each architecture */
	char counters[512]; /* the folder of counter_defs.yaml; "": rocprofiler-sdk's */
	char sets[512];     /* the folder of ARCHITECTURE_sets.yaml */
};

/* folder: --config-dir, or NULL.  -ENOENT lists all the paths. */
int compute_definitions_find(struct compute_definitions *ret, const char *folder,
			     struct err *err) MUST_CHECK;
