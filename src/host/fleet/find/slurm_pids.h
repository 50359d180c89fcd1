/*
 * Slurm's own list of a job's processes on this node: `scontrol listpids`.
 */
#pragma once

#include "host/fleet/request.h"

/* The wanted step ("": all of them), and one that is always skipped, limpet's own ("": none). */
struct slurm_steps {
	const char *wanted, *unwanted;
};

/* The tasks: processes with a global number.  Parses the table; skips invalid lines.  0 or -ENOMEM;
 * the caller frees the list. */
int slurm_pids_parse(const char *text, const struct slurm_steps *steps, struct known_rank **ret,
		     size_t *ret_count) MUST_CHECK;

/* Runs scontrol.  Returns none if Slurm does not answer: variables remain. */
void slurm_pids_read(const char *job, const struct slurm_steps *steps, struct known_rank **ret,
		     size_t *ret_count);
