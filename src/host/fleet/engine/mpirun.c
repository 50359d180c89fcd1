/*
 * --mpirun PID: the ranks of a launcher that runs here.  Open MPI (up to 4) and srun keep a list of
 * them for debuggers (MPIR_proctable), which is read from their memory while they run; for MPICH's
 * hydra, its proxies are found by the command lines of its children:
 *
 *   /usr/bin/ssh -x n1 "/usr/bin/hydra_pmi_proxy" --control-port login:33715 ...
 *   /usr/bin/hydra_pmi_proxy --control-port login:33715 ...
 *
 * All of that is foreign.  The nodes are reached by ssh.
 */
#include "host/fleet/engine/mpirun.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/text/path.h"
#include "host/core/text/text.h"
#include "host/fleet/engine/engine.h"
#include "host/fleet/find/rank_variables.h"
#include "host/process/forks/descendants.h"
#include "host/process/procfs.h"
#include "host/process/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define COMMAND_MAX 4096u

/* An entry of the list. */
struct proctable_entry {
	char host[HOST_NAME_MAX_BYTES];
	pid_t pid;
};

/* MPIR_PROCDESC, the structure for debuggers. */
struct process_description {
	uint64_t host_name, executable_name; /* pointers */
	int32_t pid;
};

static bool host_read(int memory, uint64_t address, char ret[HOST_NAME_MAX_BYTES])
{
	/* The next page may not be mapped. */
	for (size_t i = 0; i < HOST_NAME_MAX_BYTES; i++) {
		if (!memory_read(memory, address + i, ret + i, 1))
			return false;
		if (!ret[i])
			return host_name_is_sound(ret);
	}
	return false;
}

static bool entry_read(int memory, uint64_t address, struct proctable_entry *ret)
{
	struct process_description entry;

	if (!memory_read(memory, address, &entry, sizeof(entry)) || entry.pid <= 0)
		return false;
	ret->pid = entry.pid;
	return host_read(memory, entry.host_name, ret->host);
}

/* Many consecutive ranks are on the same host, with the same text for its name. */
static int entries_read(int memory, uint64_t list, size_t count, struct proctable_entry **ret,
			struct err *err)
{
	CLEANUP(free) struct proctable_entry *entries = calloc(count, sizeof(*entries));

	if (!entries)
		return err_set(err, -ENOMEM, "%zu ranks: no memory", count);
	for (size_t i = 0; i < count; i++)
		if (!entry_read(memory, list + i * sizeof(struct process_description), &entries[i]))
			return err_set(err, -EBADMSG,
				       "its list of ranks makes no sense at rank %zu", i);
	*ret = TAKE(entries);
	return 0;
}

static int list_find(pid_t pid, int memory, uint64_t *ret_list, uint32_t *ret_count)
{
	uint64_t list, size;
	int r = mapped_symbol_find(pid, memory, "MPIR_proctable", &list);

	if (!r)
		r = mapped_symbol_find(pid, memory, "MPIR_proctable_size", &size);
	if (r)
		return r;
	if (!memory_read(memory, list, ret_list, sizeof(*ret_list)) ||
	    !memory_read(memory, size, ret_count, sizeof(*ret_count)))
		return -EFAULT;
	return *ret_list && *ret_count && *ret_count <= RANK_MAX ? 0 : -ENODATA;
}

/* By rank; the caller frees it.  -ENOENT: there is no such list; -ENODATA: it is still empty.
 * -EACCES: its memory may not be read; -ESRCH: there is no such process. */
static int proctable_read(pid_t pid, struct proctable_entry **ret, size_t *ret_count,
			  struct err *err)
{
	CLEANUP(close) int memory = memory_open(pid);
	uint64_t list;
	uint32_t count;
	int r;

	if (memory < 0) {
		if (memory == -ENOENT || memory == -ESRCH) {
			err_set(err, -ESRCH, "there is no process %d", pid);
			return err_exit(err, EXIT_NO_PROCESS);
		}
		err_set(err, memory, "the memory of %d may not be read: %s", pid,
			strerror(-memory));
		err_fix(err, "run limpet as the user who started it, or as root");
		return err_exit(err, EXIT_NOT_PERMITTED);
	}
	r = list_find(pid, memory, &list, &count);
	if (r)
		return err_set(err, r, "%d has no list of ranks (MPIR_proctable)", pid);
	r = entries_read(memory, list, count, ret, err);
	if (!r)
		*ret_count = count;
	return r;
}

/* With or without quotes around it. */
static bool is_proxy(const char *word)
{
	const char *name = path_base_name(word);

	return !strncmp(name, "hydra_pmi_proxy", 15) && (!name[15] || !strcmp(name + 15, "\""));
}

int hydra_take(struct hydra *self, const char *command, size_t size)
{
	const char *end = command + size, *before = NULL, *host = NULL;
	bool has_proxy = false, is_local = false;

	for (const char *at = command; at < end; at += strnlen(at, (size_t)(end - at)) + 1) {
		if (!memchr(at, '\0', (size_t)(end - at)))
			break;
		if (is_proxy(at) && !has_proxy) {
			has_proxy = true;
			is_local = !before;
			host = before;
		} else if (has_proxy && !strcmp(before, "--control-port") &&
			   host_name_is_sound(at)) {
			snprintf(self->key, sizeof(self->key), "%s", at);
		}
		before = at;
	}
	self->has_local |= is_local;
	return host && host_name_is_sound(host) ? hosts_add(&self->hosts, host) : 0;
}

/* The children of a process.  -ENOENT: none of them is a proxy. */
static int hydra_read(struct hydra *ret, pid_t pid, struct err *err)
{
	CLEANUP(free) struct lineage *all = NULL;
	struct err ignored = { 0 };
	size_t count = 0;
	int r = lineage_read_all(&all, &count, err);

	*ret = (struct hydra){ 0 };
	if (r)
		return r;
	for (size_t i = 0; !r && i < count; i++) {
		char command[COMMAND_MAX];
		ssize_t size = all[i].parent != pid
				       ? 0
				       : proc_read_small(all[i].pid, "cmdline", command,
							 sizeof(command), &ignored);

		if (size > 0)
			r = hydra_take(ret, command, (size_t)size + 1);
	}
	if (!r && *ret->key)
		return 0;
	hydra_done(ret);
	return r ? err_set(err, r, "hosts: no memory")
		 : err_set(err, -ENOENT, "%d has started no hydra_pmi_proxy", pid);
}

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

	if (r)
		return err_usage(err, NULL, "'%s' is no process number", who->mpirun);
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
