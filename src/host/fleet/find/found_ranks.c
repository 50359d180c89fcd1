/*
 * From processes to ranks.  Children inherit the variables of a rank: the topmost process that has
 * them is the rank, and if that is a wrapper, the program that it runs is chosen.  Runs on nodes.
 */
#include "host/fleet/find/found_ranks.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/rows.h"
#include "host/core/text/path.h"
#include "host/fleet/find/job_processes.h"
#include "host/fleet/rank.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPERS_MAX 8u

struct search {
	const struct find_options *options;
	struct job_processes processes;
	unsigned variable;
	bool has_numbers; /* some process has a rank number, wanted or not */
	struct found_ranks *found;
};

static uint32_t rank_of(const struct search *self, size_t index)
{
	return self->variable == VARIABLE_NONE ? RANK_NONE
					       : self->processes.items[index].ranks[self->variable];
}

/* Does an ancestor belong to the same rank, or, without numbers, to the job? */
static bool is_below_its_rank(const struct search *self, size_t index)
{
	uint32_t rank = rank_of(self, index);
	size_t above = job_processes_parent(&self->processes, index);

	while (above != PROCESS_NONE) {
		if (self->processes.items[above].is_in_job && rank_of(self, above) == rank)
			return true;
		above = job_processes_parent(&self->processes, above);
	}
	return false;
}

static bool is_top(const struct search *self, size_t index)
{
	if (!self->processes.items[index].is_in_job)
		return false;
	if (rank_of(self, index) == RANK_NONE && self->options->way != FIND_NAME)
		return false;
	return !is_below_its_rank(self, index);
}

/* The child with the most processor time; PROCESS_NONE: there is none. */
static size_t busiest_child(const struct search *self, size_t index)
{
	const struct job_process *items = self->processes.items;
	size_t best = PROCESS_NONE;

	for (size_t i = 0; i < self->processes.count; i++)
		if (items[i].parent == items[index].pid && !items[i].is_ours &&
		    (best == PROCESS_NONE || items[i].cpu_ns > items[best].cpu_ns))
			best = i;
	return best;
}

/* A script has its own name, and is the program of a shell. */
static bool is_wrapper(const struct job_process *process)
{
	char path[PATH_MAX];

	if (program_is_wrapper(process->name))
		return true;
	return proc_read_link(process->pid, "exe", path, sizeof(path)) > 0 &&
	       program_is_wrapper(path_base_name(path));
}

/* The process that the wrappers run. */
static size_t worker_find(const struct search *self, size_t index, struct found_rank *rank)
{
	const struct job_process *items = self->processes.items;

	for (unsigned i = 0; i < WRAPPERS_MAX && is_wrapper(&items[index]); i++) {
		size_t used, child = busiest_child(self, index);

		if (child == PROCESS_NONE)
			break;
		used = strlen(rank->through);
		snprintf(rank->through + used, sizeof(rank->through) - used, "%s%s",
			 used ? ", " : "", items[index].name);
		index = child;
	}
	return index;
}

static int found_add(struct found_ranks *found, const struct found_rank *rank)
{
	if (make_room(&found->items, found->count, &found->room, sizeof(*found->items)))
		return -ENOMEM;
	found->items[found->count++] = *rank;
	return 0;
}

static bool is_wanted(const struct search *self, uint32_t number)
{
	return !self->options->has_ranks || number == RANK_NONE ||
	       rank_set_has(&self->options->ranks, number);
}

static int rank_add(struct search *self, size_t top, uint32_t number, uint32_t size)
{
	const struct job_process *process = &self->processes.items[top];
	struct found_rank rank = { .top = process->pid, .number = number, .size = size };
	size_t worker = top;

	self->has_numbers |= number != RANK_NONE;
	if (!is_wanted(self, number))
		return 0;
	if (self->options->family == FAMILY_WORKER)
		worker = worker_find(self, top, &rank);
	process = &self->processes.items[worker];
	/* A wrapper of the owner may have started a setuid program. */
	if (self->options->has_owner && process->user != self->options->owner)
		rank.left_out = RANK_IS_FOREIGN;
	rank.pid = process->pid;
	snprintf(rank.name, sizeof(rank.name), "%s", process->name);
	return found_add(self->found, &rank);
}

static int tops_add(struct search *self)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->processes.count; i++)
		if (is_top(self, i))
			r = rank_add(self, i, rank_of(self, i),
				     self->variable == VARIABLE_NONE
					     ? 0
					     : self->processes.items[i].sizes[self->variable]);
	return r;
}

/* Adds the ranks that the launcher or Slurm lists. */
static int known_add(struct search *self)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->options->known_count; i++) {
		const struct known_rank *known = &self->options->known[i];
		struct found_rank gone = {
			.pid = known->pid,
			.top = known->pid,
			.number = known->rank,
			.left_out = RANK_IS_GONE,
		};
		size_t index = job_processes_find(&self->processes, known->pid);

		if (index != PROCESS_NONE)
			r = rank_add(self, index, known->rank, /* size */ 0);
		else if (is_wanted(self, known->rank))
			r = found_add(self->found, &gone);
	}
	return r;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct found_rank *left = a, *right = b;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return (left->top > right->top) - (left->top < right->top);
}

/* A process that left its rank to be a daemon has another parent, but the same session. */
static bool is_same_session(const struct search *self, const struct found_rank *one,
			    const struct found_rank *other)
{
	size_t a = job_processes_find(&self->processes, one->top);
	size_t b = job_processes_find(&self->processes, other->top);

	return a != PROCESS_NONE && b != PROCESS_NONE && self->processes.items[a].session &&
	       self->processes.items[a].session == self->processes.items[b].session;
}

/* Keeps one process per number, the oldest. */
static int ranks_settle(struct search *self, struct err *err)
{
	struct found_ranks *found = self->found;
	size_t kept = 0;

	rows_sort(found->items, found->count, sizeof(*found->items), compare_ranks);
	for (size_t i = 0; i < found->count; i++) {
		const struct found_rank *last = kept ? &found->items[kept - 1] : NULL;
		const struct found_rank *rank = &found->items[i];

		if (!last || rank->number == RANK_NONE || last->number != rank->number) {
			found->items[kept++] = *rank;
		} else if (!is_same_session(self, last, rank)) {
			err_set(err, -EEXIST,
				"rank %u is there twice: process %d (%s) and process %d (%s)",
				last->number, last->pid, last->name, rank->pid, rank->name);
			err_why(err, "several jobs, or several steps of one, run here");
			return err_fix(err, "choose one: --match NAME or --mpirun PID");
		}
	}
	found->count = kept;
	return 0;
}

/* --ranks selects by number: drops processes without one; if no process has a number, they stay in
 * the list for home to refuse. */
static void unnumbered_leave_out(struct search *self)
{
	struct found_ranks *found = self->found;
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		struct found_rank *rank = &found->items[i];

		if (self->options->has_ranks && rank->number == RANK_NONE) {
			found->unnumbered++;
			rank->left_out = RANK_HAS_NO_NUMBER;
			if (self->has_numbers)
				continue;
		}
		found->items[kept++] = *rank;
	}
	found->count = kept;
}

static int nothing_refuse(const struct find_options *options, struct err *err)
{
	err_set(err, -ESRCH, "no rank runs here");
	switch (options->way) {
	case FIND_NAME:
		err_why(err, "no process is called '%s'", options->name);
		break;
	case FIND_SLURM:
		err_why(err, "no process of Slurm's job %s%s%s tells its rank", options->job,
			*options->step ? "." : "", options->step);
		break;
	default:
		err_why(err, "no process has a variable that tells a rank, or it may not be read");
		err_fix(err, "--match NAME, or --rank-variable NAME");
	}
	return err_exit(err, EXIT_NO_PROCESS);
}

/* Those whose name matches, with * and ?; none if they cannot be read. */
static void zombies_find(struct zombies *ret, const char *name)
{
	CLEANUP(free) pid_t *pids = NULL;
	struct err ignored = { 0 };
	size_t count = 0;

	if (proc_list(0, "", &pids, &count, &ignored))
		return;
	for (size_t i = 0; i < count; i++) {
		struct process_stat stat;

		if (stat_read(pids[i], 0, &stat, &ignored) || stat.state != 'Z' ||
		    fnmatch(name, stat.name, 0) || ret->count++)
			continue;
		ret->first = pids[i];
		ret->parent = stat.parent;
		snprintf(ret->name, sizeof(ret->name), "%s", stat.name);
	}
}

int ranks_find(struct found_ranks *ret, const struct find_options *options, struct err *err)
{
	struct found_ranks found = { .variable = "" };
	struct search search = { .options = options, .found = &found };
	int r = job_processes_read(&search.processes, options, err);

	if (r)
		return r;
	search.variable = job_processes_variable(&search.processes, options);
	found.variable = job_variable_name(search.variable, options);
	found.is_live = search.processes.is_live;
	r = options->way == FIND_PIDS ? known_add(&search) : tops_add(&search);
	r = r ? err_set(err, r, "ranks: no memory") : ranks_settle(&search, err);
	job_processes_done(&search.processes);
	if (!r && options->way == FIND_NAME)
		zombies_find(&found.zombies, options->name);
	if (!r)
		unnumbered_leave_out(&search);
	if (!r && !found.count && !options->has_ranks)
		r = nothing_refuse(options, err);
	if (r)
		free(found.items);
	else
		*ret = found;
	return r;
}
