/*
 * The command line of rocprof-compute: modes profile and analyze.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <stdio.h>

#define TEXTS_MAX 64u

struct texts {
	const char *items[TEXTS_MAX]; /* into argv */
	size_t count;
};

enum compute_mode { MODE_NONE, MODE_PROFILE, MODE_ANALYZE };

struct compute_options {
	enum compute_mode mode;
	const char *name, *path, *set, *config_folder, *list_metrics;
	struct texts blocks, kernels, dispatches;
	const char *pid, *duration_ms;
	bool lists_metrics, lists_sets, has_no_roof, is_quiet, shows_help, shows_version;
	bool lists_stats, is_native, all_descendants;
	unsigned verbosity;
	const char *unit, *gpu, *rows; /* of analyze */
	const char *ignored;           /* of AMD's own libraries: not used here */
	char **command;                /* behind "--"; NULL: none */
};

/* argv: behind the program's name.  All errors with EXIT_USAGE. */
int compute_options_read(struct compute_options *ret, char **argv, struct err *err) MUST_CHECK;
void compute_options_help(FILE *out);
