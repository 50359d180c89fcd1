/*
 * The processes of this machine, with the facts that decide which belong to a job and which rank
 * they are.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/table.h"
#include "host/fleet/find/rank_variables.h"
#include "host/fleet/request.h"

/* Index of the named variable, if it is not in the table. */
#define VARIABLE_NAMED (RANK_VARIABLES_MAX - 1)
#define VARIABLE_NONE  RANK_VARIABLES_MAX

#define PROCESS_NONE SIZE_MAX

struct job_process {
	pid_t pid, parent, session;
	uint64_t cpu_ns;
	char name[32], state;
	uid_t user; /* effective; read only where find_options.has_owner */
	bool is_in_job;
	bool is_ours; /* limpet itself, or an ancestor of it */
	/* By index of rank_variables: RANK_NONE where it has none. */
	uint32_t ranks[RANK_VARIABLES_MAX], sizes[RANK_VARIABLES_MAX];
};

struct job_processes {
	struct job_process *items; /* older ones first */
	size_t count;
	struct table by_pid; /* (pid, 0): index */
	bool is_live;        /* ranks were read from memory, since /proc showed none */
};

int job_processes_read(struct job_processes *ret, const struct find_options *options,
		       struct err *err) MUST_CHECK;
void job_processes_done(struct job_processes *processes);
DEFINE_STRUCT_CLEANUP(job_processes, job_processes_done)

/* PROCESS_NONE: no process has that number. */
size_t job_processes_find(const struct job_processes *processes, pid_t pid);
/* Of this process; PROCESS_NONE if it is not in the list. */
size_t job_processes_parent(const struct job_processes *processes, size_t index);

/* The best variable that any process of the job has, or the named one; VARIABLE_NONE. */
unsigned job_processes_variable(const struct job_processes *processes,
				const struct find_options *options);
/* The name of that variable; "" for none. */
const char *job_variable_name(unsigned variable, const struct find_options *options);

/* "bash", "timeout": a wrapper; the program that it runs is the rank. */
bool program_is_wrapper(const char *name);
/* "orted", "srun": never a rank; hydra's proxy unless without_proxy. */
bool program_is_launcher(const char *name, bool without_proxy);

/* The wanted step ("": all of them), and one that is always skipped, limpet's own ("": none). */
struct slurm_steps {
	const char *wanted, *unwanted;
};

/* Slurm's own list of a job's processes on this node, `scontrol listpids`.  The tasks: processes
 * with a global number.  Parses the table; skips invalid lines.  0 or -ENOMEM; the caller frees the
 * list. */
int slurm_pids_parse(const char *text, const struct slurm_steps *steps, struct known_rank **ret,
		     size_t *ret_count) MUST_CHECK;

/* Runs scontrol.  Returns none if Slurm does not answer: variables remain. */
void slurm_pids_read(const char *job, const struct slurm_steps *steps, struct known_rank **ret,
		     size_t *ret_count);
