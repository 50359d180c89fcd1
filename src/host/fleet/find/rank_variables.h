/*
 * The variables in which launchers pass the rank, the most trustworthy first: a rank that mpirun
 * starts inside Slurm has Slurm's variables too, and those are the daemon's.
 */
#pragma once

#include "host/fleet/find/variables.h"

#include <stdbool.h>

struct rank_variable {
	const char *name;
	const char *size_name; /* the number of ranks; NULL: none */
};

/* Ends with an entry without a name. */
extern const struct rank_variable rank_variables[];
#define RANK_VARIABLES_MAX 16u

/* False: there is no such variable, or no number in it. */
bool rank_variable_read(const struct variables *variables, const struct rank_variable *variable,
			uint32_t *ret_rank, uint32_t *ret_size);
