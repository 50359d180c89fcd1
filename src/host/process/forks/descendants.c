/*
 * Reads families from /proc/PID/stat.  Stops nothing.
 */
#include "host/process/forks/descendants.h"

#include "host/core/cleanup.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"

#include <errno.h>
#include <unistd.h>

int lineage_read(pid_t pid, struct lineage *ret)
{
	struct process_stat stat;
	struct err ignored;
	int r = stat_read(pid, 0, &stat, &ignored);

	if (r)
		return r;
	*ret = (struct lineage){ pid, stat.parent, stat.session, stat.start_tick,
				 stat.state == 'Z' || stat.state == 'X' };
	return 0;
}

static int compare_age(const void *a, const void *b)
{
	const struct lineage *left = a, *right = b;

	if (left->start_tick != right->start_tick)
		return left->start_tick < right->start_tick ? -1 : 1;
	return (left->pid > right->pid) - (left->pid < right->pid);
}

int lineage_read_all(struct lineage **ret, size_t *ret_count, struct err *err)
{
	CLEANUP(free) pid_t *pids = NULL;
	size_t count, found = 0;
	struct lineage *list;
	int r = proc_list(0, "", &pids, &count, err);

	if (r)
		return r;
	list = calloc(count, sizeof(*list));
	if (!list)
		return err_set(err, -ENOMEM, "%zu processes", count);
	for (size_t i = 0; i < count; i++)
		if (!lineage_read(pids[i], &list[found]) && !list[found].has_ended)
			found++;
	qsort(list, found, sizeof(*list), compare_age);
	*ret = list;
	*ret_count = found;
	return 0;
}

/* The processes found so far. */
struct family {
	pid_t root, *pids;
	size_t count;
};

static bool is_among(const struct family *family, pid_t pid)
{
	for (size_t i = 0; i < family->count; i++)
		if (family->pids[i] == pid)
			return true;
	return pid == family->root;
}

/* A process descends from the process that began its session: this finds orphans, which another
 * process has adopted.  A process whose parent is in the same session is no orphan. */
static bool is_orphan(const struct family *family, const struct lineage *lineage)
{
	struct lineage parent;

	return lineage->session != lineage->pid && is_among(family, lineage->session) &&
	       !lineage_read(lineage->parent, &parent) && parent.session != lineage->session;
}

int descendants_list(pid_t root, pid_t **ret, size_t *ret_count, struct err *err)
{
	CLEANUP(free) struct lineage *all = NULL;
	struct family family = { .root = root };
	size_t count = 0;
	int r = lineage_read_all(&all, &count, err);

	if (r)
		return r;
	family.pids = calloc(count + 1, sizeof(*family.pids));
	if (!family.pids)
		return err_set(err, -ENOMEM, "%zu processes", count);
	for (size_t i = 0; i < count; i++)
		if (all[i].pid != getpid() && all[i].pid != root &&
		    (is_among(&family, all[i].parent) || is_orphan(&family, &all[i])))
			family.pids[family.count++] = all[i].pid;
	*ret = family.pids;
	*ret_count = family.count;
	return 0;
}
