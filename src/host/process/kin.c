/*
 * Reads families from /proc/PID/stat.  Host only; stops nothing.
 */
#include "host/process/kin.h"

#include "host/core/cleanup.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"

#include <errno.h>

int kin_read(pid_t pid, struct kin *ret)
{
	struct process_stat stat;
	struct err ignored;
	int r = stat_read(pid, 0, &stat, &ignored);

	if (r)
		return r;
	*ret = (struct kin){ pid, stat.parent, stat.session, stat.start_tick,
			     stat.state == 'Z' || stat.state == 'X' };
	return 0;
}

static int compare_age(const void *a, const void *b)
{
	const struct kin *left = a, *right = b;

	if (left->start_tick != right->start_tick)
		return left->start_tick < right->start_tick ? -1 : 1;
	return (left->pid > right->pid) - (left->pid < right->pid);
}

int kin_read_all(struct kin **ret, size_t *ret_count, struct err *err)
{
	CLEANUP(free) pid_t *pids = NULL;
	size_t count, found = 0;
	struct kin *list;
	int r = proc_list(0, "", &pids, &count, err);

	if (r)
		return r;
	list = calloc(count, sizeof(*list));
	if (!list)
		return err_set(err, -ENOMEM, "%zu processes", count);
	for (size_t i = 0; i < count; i++)
		if (!kin_read(pids[i], &list[found]) && !list[found].has_ended)
			found++;
	qsort(list, found, sizeof(*list), compare_age);
	*ret = list;
	*ret_count = found;
	return 0;
}
