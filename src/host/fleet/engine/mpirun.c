/*
 * --mpirun PID: the ranks of a launcher that runs here.  Open MPI (up to 4) and srun keep a list of
 * them for debuggers; for MPICH's hydra, its proxies are found.  The nodes are reached by ssh.
 */
#include "host/fleet/engine/mpirun.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/text/text.h"
#include "host/fleet/engine/engine.h"
#include "host/process/forks/descendants.h"
#include "host/process/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* With or without its domain. */
static bool is_this_machine(const char *host)
{
	struct utsname system;
	size_t length;

	uname(&system);
	length = strcspn(system.nodename, ".");
	return !strcmp(host, "localhost") || !strcmp(host, system.nodename) ||
	       (!strncmp(host, system.nodename, length) && (!host[length] || host[length] == '.'));
}

/* A table of another user's must not choose the user name for ssh. */
static bool host_is_allowed(const struct fleet_plan *plan, const char *host)
{
	return !plan->is_foreign || !strchr(host, '@');
}

static struct planned_node *node_named(struct fleet_plan *plan, const char *host)
{
	struct planned_node *node;

	for (size_t i = 0; i < plan->node_count; i++)
		if (!strcmp(plan->nodes[i].name, host))
			return &plan->nodes[i];
	node = plan_add_node(plan, host);
	if (node)
		node->is_local = is_this_machine(host);
	return node;
}

static int rank_add(struct fleet_plan *plan, uint32_t rank, const struct proctable_entry *entry)
{
	struct planned_node *node;

	if (!host_is_allowed(plan, entry->host))
		return -EPERM;
	node = node_named(plan, entry->host);
	if (!node ||
	    make_room(&node->known, node->known_count, &node->known_room, sizeof(*node->known)))
		return -ENOMEM;
	node->known[node->known_count++] = (struct known_rank){ rank, entry->pid };
	return 0;
}

static int host_refuse(struct err *err)
{
	err_set(err, -EPERM, "the launcher's list names a host with a user ('@')");
	err_why(err, "another user's launcher would choose the user name for limpet's login there");
	err_fix(err, "limpet fleet ... --hosts LIST --match NAME");
	return err_exit(err, EXIT_NOT_PERMITTED);
}

static int table_plan(struct fleet_plan *ret, pid_t pid, struct err *err)
{
	CLEANUP(free) struct proctable_entry *entries = NULL;
	size_t count = 0;
	int r = proctable_read(pid, &entries, &count, err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < count; i++)
		r = rank_add(ret, (uint32_t)i, &entries[i]);
	if (r == -EPERM)
		return host_refuse(err);
	return r ? err_set(err, r, "ranks: no memory") : 0;
}

static int hydra_plan(struct fleet_plan *ret, pid_t pid, struct err *err)
{
	struct hydra hydra;
	struct utsname system;
	int r = hydra_read(&hydra, pid, err);

	if (r)
		return r;
	uname(&system);
	for (size_t i = 0; !r && i < hydra.hosts.count; i++) {
		r = host_is_allowed(ret, hydra.hosts.names[i]) ? 0 : -EPERM;
		if (!r)
			r = node_named(ret, hydra.hosts.names[i]) ? 0 : -ENOMEM;
	}
	if (!r && hydra.has_local)
		r = node_named(ret, system.nodename) ? 0 : -ENOMEM;
	if (!r)
		r = text_set(&ret->key, hydra.key);
	ret->find.way = FIND_HYDRA;
	ret->find.key = ret->key ? ret->key : "";
	hydra_done(&hydra);
	if (r == -EPERM)
		return host_refuse(err);
	return r ? err_set(err, r, "hosts: no memory") : 0;
}

static int ended_refuse(pid_t pid, struct err *err)
{
	err_set(err, -ESRCH, "there is no process %d", pid);
	return err_exit(err, EXIT_NO_PROCESS);
}

/* As root the kernel refuses nothing, so node parts compare the user of each rank with the
 * launcher's. */
static int owner_settle(struct fleet_plan *plan, const struct fleet_who *who, pid_t pid,
			struct err *err)
{
	struct process_status status;

	if (status_read(pid, pid, &status, err))
		return ended_refuse(pid, err);
	plan->is_foreign = status.uid != getuid() || status.euid != status.uid;
	if (plan->is_foreign && !who->trusts_foreign) {
		err_set(err, -EPERM, "launcher %d belongs to another user (%u)", pid, status.uid);
		err_why(err, "its list of ranks could name any process and any host, and limpet "
			     "would attach there with your rights");
		err_fix(err, "run limpet as that user, or trust the list for processes of that "
			     "user: --foreign-launcher");
		return err_exit(err, EXIT_NOT_PERMITTED);
	}
	plan->find.has_owner = plan->is_foreign || !geteuid();
	plan->find.owner = status.uid;
	return 0;
}

static int ranks_plan(struct fleet_plan *ret, pid_t pid, struct err *err)
{
	int r, table = table_plan(ret, pid, err);

	if (table != -ENOENT && table != -ENODATA)
		return table;
	/* Some builds of hydra have such a list, too, but never fill it. */
	*err = (struct err){ 0 };
	r = hydra_plan(ret, pid, err);
	if (r != -ENOENT)
		return r;
	if (table == -ENODATA) {
		err_set(err, -ENODATA, "%d has no list of ranks yet", pid);
		err_why(err, "Open MPI's mpirun lists its ranks when all of them have called "
			     "MPI_Init");
	} else {
		err_set(err, -ENOENT, "%d has no list of ranks", pid);
		err_why(err, "it is neither Open MPI's mpirun (up to version 4), nor srun, nor "
			     "MPICH's mpiexec.hydra");
	}
	err_fix(err, "limpet fleet ... --hosts LIST --match NAME");
	return err_exit(err, EXIT_NOT_ATTACHABLE);
}

/* The number may have been reused between the check and the reading. */
static int owned_plan(struct fleet_plan *ret, const struct fleet_who *who, pid_t pid,
		      struct err *err)
{
	struct lineage before, after;
	int r = lineage_read(pid, &before) ? ended_refuse(pid, err)
					   : owner_settle(ret, who, pid, err);

	if (!r)
		r = ranks_plan(ret, pid, err);
	if (!r && (lineage_read(pid, &after) || after.start_tick != before.start_tick))
		r = ended_refuse(pid, err);
	return r;
}

static int mpirun_plan(struct fleet_plan *ret, const struct fleet_who *who, struct err *err)
{
	pid_t pid;
	int r = text_parse_pid(who->mpirun, &pid);

	if (r) {
		err_set(err, r, "'%s' is no process number", who->mpirun);
		return err_exit(err, EXIT_USAGE);
	}
	if (asprintf(&ret->title, "job of %d", pid) < 0) {
		ret->title = NULL;
		return err_set(err, -ENOMEM, "ranks: no memory");
	}
	return owned_plan(ret, who, pid, err);
}

const struct engine engine_mpirun = {
	.name = "--mpirun",
	.copy = COPY_INPUT,
	.plan = mpirun_plan,
	.command = ssh_command,
};
