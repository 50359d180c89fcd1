/*
 * Reads all processes, and decides which are in the job.  Runs on nodes; stops nothing.
 */
#include "host/fleet/find/job_processes.h"

#include "host/core/cleanup.h"
#include "host/core/text/path.h"
#include "host/fleet/rank.h"
#include "host/process/forks/descendants.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"
#include "host/process/status.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_MAX 4096u
#define WORDS_NAMED 4u /* words of a command line that may be the program's name */

/* Names of programs that start others, cut to 15 letters as in the kernel. */
static const char *const wrappers[] = {
	"sh",     "bash",    "dash",      "zsh",     "ksh",       "csh",         "tcsh",
	"fish",   "busybox", "timeout",   "time",    "strace",    "ltrace",      "sudo",
	"su",     "script",  "catchsegv", "tini",    "dumb-init", "conda",       "mamba",
	"uv",     "poetry",  "pipenv",    "starter", "apptainer", "singularity", "podman",
	"conmon", "crun",    "runc",      "enroot",  "flock",     "setpriv",
};

static const char *const launchers[] = {
	"orted",          "prted",   "orterun",        "prterun",       "mpirun",
	"mpirun.openmpi", "mpiexec", "mpiexec.openmp", "mpiexec.hydra", "hydra_bstrap_pr",
	"srun",           "sbatch",  "salloc",         "slurmstepd",    "torchrun",
	"flux-shell",     "palsd",   "sshd",           "ssh",
};

static bool is_among(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(list[i], name, 15))
			return true;
	return false;
}

bool program_is_wrapper(const char *name)
{
	return is_among(wrappers, ARRAY_SIZE(wrappers), name);
}

bool program_is_launcher(const char *name, bool without_proxy)
{
	return is_among(launchers, ARRAY_SIZE(launchers), name) ||
	       (!without_proxy && !strcmp(name, "hydra_pmi_proxy"));
}

static const char *own_variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value ? value : "";
}

static bool has_value(const struct variables *variables, const char *name, const char *value)
{
	const char *found = variables->text ? variables_value(variables, name) : NULL;

	return found && !strcmp(found, value);
}

static bool is_in_slurm_job(const struct job_process *process, const struct variables *variables,
			    const struct find_options *options)
{
	const char *own_step = own_variable("SLURM_STEP_ID");
	const char *own_node = own_variable("SLURMD_NODENAME");

	(void)process;
	if (!has_value(variables, "SLURM_JOB_ID", options->job))
		return false;
	/* Several nodes may be one machine: each node has the processes with its own name. */
	if (*own_node && !has_value(variables, "SLURMD_NODENAME", own_node))
		return false;
	if (*own_step && has_value(variables, "SLURM_STEP_ID", own_step))
		return false;
	return !*options->step || has_value(variables, "SLURM_STEP_ID", options->step);
}

/* The program's name is among the first words: "python3 -u train.py". */
static bool is_called(const struct job_process *process, const struct variables *variables,
		      const struct find_options *options)
{
	char command[COMMAND_MAX];
	struct err ignored = { 0 };
	ssize_t size = proc_read_small(process->pid, "cmdline", command, sizeof(command), &ignored);
	const char *at = command;

	(void)variables;
	if (!fnmatch(options->name, process->name, 0))
		return true;
	for (unsigned i = 0; i < WORDS_NAMED && size > 0 && at < command + size; i++) {
		if (!fnmatch(options->name, path_base_name(at), 0))
			return true;
		at += strlen(at) + 1;
	}
	return false;
}

static bool is_any(const struct job_process *process, const struct variables *variables,
		   const struct find_options *options)
{
	(void)process;
	(void)variables;
	(void)options;
	return true;
}

/* The proxy of this control port. */
static bool is_proxy(const struct job_process *process, const struct variables *variables,
		     const struct find_options *options)
{
	char command[COMMAND_MAX];
	struct err ignored = { 0 };
	const char *end, *next;
	ssize_t size;

	(void)variables;
	if (strcmp(process->name, "hydra_pmi_proxy") != 0)
		return false;
	size = proc_read_small(process->pid, "cmdline", command, sizeof(command), &ignored);
	end = command + MAX(size, 0);
	for (const char *at = command; at < end; at = next) {
		next = at + strlen(at) + 1;
		if (!strcmp(at, "--control-port") && next < end && !strcmp(next, options->key))
			return true;
	}
	return false;
}

typedef bool membership(const struct job_process *process, const struct variables *variables,
			const struct find_options *options);

static membership *const memberships[FIND_WAYS] = {
	[FIND_VARIABLES] = is_any,      [FIND_NAME] = is_called, [FIND_PIDS] = is_any,
	[FIND_SLURM] = is_in_slurm_job, [FIND_HYDRA] = is_proxy,
};

static void ranks_read(struct job_process *process, const struct variables *variables,
		       const struct find_options *options)
{
	const struct rank_variable named = { .name = options->variable };

	for (unsigned i = 0; i < RANK_VARIABLES_MAX; i++)
		process->ranks[i] = RANK_NONE;
	for (unsigned i = 0; rank_variables[i].name; i++) {
		/* A batch script is no task, though it has the number of the first one. */
		bool is_batch = !strcmp(rank_variables[i].name, "SLURM_PROCID") &&
				!(variables->text && variables_value(variables, "SLURM_STEP_ID"));

		if (!is_batch)
			(void)rank_variable_read(variables, &rank_variables[i], &process->ranks[i],
						 &process->sizes[i]);
	}
	if (*options->variable)
		(void)rank_variable_read(variables, &named, &process->ranks[VARIABLE_NAMED],
					 &process->sizes[VARIABLE_NAMED]);
}

/* A process chooses its own variables, name and arguments: any user can copy those of a job.  Its
 * user comes from the kernel. */
static bool owner_is_right(struct job_process *process, const struct find_options *options)
{
	struct process_status status;
	struct err ignored = { 0 };

	if (!options->has_owner)
		return true;
	if (status_read(process->pid, process->pid, &status, &ignored))
		return false;
	process->user = status.euid;
	return status.uid == options->owner && status.euid == options->owner;
}

/* False: it has ended. */
static bool process_fill(struct job_process *ret, const struct lineage *lineage,
			 const struct find_options *options)
{
	CLEANUP(variables_done) struct variables variables = { 0 };
	struct process_stat stat;
	struct err ignored = { 0 };

	if (stat_read(lineage->pid, 0, &stat, &ignored) || stat.is_kernel_thread)
		return false;
	*ret = (struct job_process){ .pid = lineage->pid,
				     .parent = stat.parent,
				     .cpu_ns = stat.cpu_ns,
				     .state = stat.state };
	snprintf(ret->name, sizeof(ret->name), "%s", stat.name);
	ret->session = stat.session;
	if (variables_read(&variables, ret->pid))
		variables = (struct variables){ 0 };
	ranks_read(ret, &variables, options);
	ret->user = (uid_t)-1;
	ret->is_in_job = owner_is_right(ret, options) &&
			 memberships[options->way](ret, &variables, options) &&
			 !program_is_launcher(ret->name, options->way == FIND_HYDRA);
	return true;
}

size_t job_processes_find(const struct job_processes *self, pid_t pid)
{
	const struct table_entry *entry = table_find(&self->by_pid, (uint64_t)pid, 0);

	return entry ? (size_t)entry->value : PROCESS_NONE;
}

size_t job_processes_parent(const struct job_processes *self, size_t index)
{
	return job_processes_find(self, self->items[index].parent);
}

/* The descendants of the proxy are the job, not the proxy itself. */
static void processes_inherit(struct job_processes *self)
{
	for (size_t i = 0; i < self->count; i++) {
		size_t parent = job_processes_parent(self, i);

		if (parent != PROCESS_NONE && self->items[parent].is_in_job)
			self->items[i].is_in_job = true;
	}
	for (size_t i = 0; i < self->count; i++)
		if (!strcmp(self->items[i].name, "hydra_pmi_proxy"))
			self->items[i].is_in_job = false;
}

static unsigned variable_index(const char *name)
{
	for (unsigned i = 0; rank_variables[i].name; i++)
		if (!strcmp(rank_variables[i].name, name))
			return i;
	return VARIABLE_NAMED;
}

/* Programs may be started without any variable: Slurm knows its tasks all the same. */
static void processes_query_slurm(struct job_processes *self, const struct find_options *options)
{
	CLEANUP(free) struct known_rank *tasks = NULL;
	struct slurm_steps steps = { options->step, own_variable("SLURM_STEP_ID") };
	unsigned variable = variable_index("SLURM_PROCID");
	size_t count = 0;

	slurm_pids_read(options->job, &steps, &tasks, &count);
	for (size_t i = 0; i < count; i++) {
		size_t index = job_processes_find(self, tasks[i].pid);
		struct job_process *process = index == PROCESS_NONE ? NULL : &self->items[index];

		if (!process || process->is_ours ||
		    program_is_launcher(process->name, /* without_proxy */ false))
			continue;
		process->is_in_job = true;
		if (process->ranks[variable] == RANK_NONE)
			process->ranks[variable] = tasks[i].rank;
	}
}

static bool has_any_rank(const struct job_process *process)
{
	for (unsigned i = 0; i < RANK_VARIABLES_MAX; i++)
		if (process->ranks[i] != RANK_NONE)
			return true;
	return false;
}

/* If processes were named and none has a rank from its start, reads whether one has set it
 * since. */
static void processes_read_live(struct job_processes *self, const struct find_options *options)
{
	for (size_t i = 0; i < self->count; i++)
		if (self->items[i].is_in_job && has_any_rank(&self->items[i]))
			return;
	for (size_t i = 0; i < self->count; i++) {
		CLEANUP(variables_done) struct variables variables = { 0 };
		struct job_process *process = &self->items[i];

		if (!process->is_in_job || variables_read_live(&variables, process->pid))
			continue;
		ranks_read(process, &variables, options);
		self->is_live |= has_any_rank(process);
	}
}

static int processes_fill(struct job_processes *self, const struct lineage *list, size_t count,
			  const struct find_options *options)
{
	bool is_new;

	self->items = calloc(count + 1, sizeof(*self->items));
	if (!self->items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct table_entry *entry;

		if (!process_fill(&self->items[self->count], &list[i], options))
			continue;
		entry = table_make(&self->by_pid, (uint64_t)list[i].pid, 0, &is_new);
		if (!entry)
			return -ENOMEM;
		entry->value = self->count++;
	}
	return 0;
}

int job_processes_read(struct job_processes *ret, const struct find_options *options,
		       struct err *err)
{
	CLEANUP(job_processes_done) struct job_processes self = { 0 };
	CLEANUP(free) struct lineage *list = NULL;
	size_t count = 0;
	int r = lineage_read_all(&list, &count, err);

	if (r)
		return r;
	r = processes_fill(&self, list, count, options);
	if (r)
		return err_set(err, r, "%zu processes: no memory", count);
	/* limpet itself and its ancestors: none of them is a rank. */
	for (size_t i = job_processes_find(&self, getpid());
	     i != PROCESS_NONE && !self.items[i].is_ours; i = job_processes_parent(&self, i)) {
		self.items[i].is_ours = true;
		self.items[i].is_in_job = false;
	}
	if (options->way == FIND_HYDRA)
		processes_inherit(&self);
	if (options->way == FIND_SLURM)
		processes_query_slurm(&self, options);
	if (options->way == FIND_NAME)
		processes_read_live(&self, options);
	*ret = self;
	self = (struct job_processes){ 0 };
	return 0;
}

void job_processes_done(struct job_processes *self)
{
	free(self->items);
	table_done(&self->by_pid);
	*self = (struct job_processes){ 0 };
}

unsigned job_processes_variable(const struct job_processes *self,
				const struct find_options *options)
{
	unsigned best = VARIABLE_NONE;

	if (*options->variable)
		return variable_index(options->variable);
	for (size_t i = 0; i < self->count; i++)
		for (unsigned k = 0; self->items[i].is_in_job && k < MIN(best, VARIABLE_NAMED); k++)
			if (self->items[i].ranks[k] != RANK_NONE)
				best = k;
	return best;
}

const char *job_variable_name(unsigned variable, const struct find_options *options)
{
	if (variable == VARIABLE_NONE)
		return "";
	return variable == VARIABLE_NAMED ? options->variable : rank_variables[variable].name;
}
