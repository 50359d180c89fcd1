/*
 * Parses the output of Slurm's programs about a job.
 */
#pragma once

#include "host/fleet/engine/engine.h"

struct slurm_job {
	char id[32], state[32];
	char nodes[65536]; /* a list in Slurm's syntax */
	uid_t user;        /* (uid_t)-1: not known */
};

/* From `squeue --format=%A|%T|%U|%N`.  -ESRCH: no job; -EEXIST: more than one; -E2BIG; -EPROTO. */
int slurm_job_parse(const char *text, struct slurm_job *ret) MUST_CHECK;
/* Marks dead nodes, from lines "NODE STATE".  0 or -ENOMEM. */
int slurm_states_apply(struct fleet_plan *plan, const char *states) MUST_CHECK;
