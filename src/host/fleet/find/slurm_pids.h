/*
 * What Slurm itself tells of the processes of a job on this node: `scontrol listpids`.
 */
#pragma once

#include "host/fleet/request.h"

/* Which steps: one ("": all of them), and one that is never meant, our own ("": there is none). */
struct slurm_steps {
	const char *wanted, *unwanted;
};

/* The tasks: processes with a global number.  Parses the table; lines that make no sense are passed
 * over.  0 or -ENOMEM; the list is the caller's to free. */
int slurm_pids_parse(const char *text, const struct slurm_steps *steps, struct known_rank **ret,
		     size_t *ret_count) MUST_CHECK;

/* Asks.  None where Slurm does not answer: variables tell it, too. */
void slurm_pids_read(const char *job, const struct slurm_steps *steps, struct known_rank **ret,
		     size_t *ret_count);
