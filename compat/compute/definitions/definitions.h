/*
 * The definitions of rocprof-compute: AMD's own, of the one that is installed, or in a folder that
 * the user names.  limpet carries none: their numbers differ from release to release.
 */
#pragma once

#include "host/core/err.h"

#include <stdio.h>

#define SET_METRICS_MAX 64u

struct compute_definitions {
	char reports[512];  /* a folder for each architecture */
	char counters[512]; /* the folder of counter_defs.yaml; "": rocprofiler-sdk's */
	char sets[512];     /* the folder of ARCHITECTURE_sets.yaml */
};

/* folder: --config-dir, or NULL.  -ENOENT lists all the paths. */
int compute_definitions_find(struct compute_definitions *ret, const char *folder,
			     struct err *err) MUST_CHECK;

/* The metrics of a set that one pass can count (--set), "7.1.0"; the caller frees the texts. */
struct metric_list {
	char *items[SET_METRICS_MAX];
	size_t count;
};
void metric_list_done(struct metric_list *list);

/* -ENOENT lists the sets. */
int set_read(const struct compute_definitions *definitions, const char *architecture,
	     const char *name, struct metric_list *ret, struct err *err) MUST_CHECK;
int sets_print(FILE *out, const struct compute_definitions *definitions, const char *architecture,
	       struct err *err) MUST_CHECK;
