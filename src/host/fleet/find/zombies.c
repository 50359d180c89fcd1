/*
 * Finds ended processes by name.  Runs on nodes; stops nothing.
 */
#include "host/fleet/find/zombies.h"

#include "host/core/cleanup.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

static void zombie_add(struct zombies *self, pid_t pid, const struct process_stat *stat)
{
	if (self->count++)
		return;
	self->first = pid;
	self->parent = stat->parent;
	snprintf(self->name, sizeof(self->name), "%s", stat->name);
}

void zombies_find(struct zombies *ret, const char *name)
{
	CLEANUP(free) pid_t *pids = NULL;
	struct err ignored = { 0 };
	size_t count = 0;

	*ret = (struct zombies){ 0 };
	if (proc_list(0, "", &pids, &count, &ignored))
		return;
	for (size_t i = 0; i < count; i++) {
		struct process_stat stat;

		if (!stat_read(pids[i], 0, &stat, &ignored) && stat.state == 'Z' &&
		    !fnmatch(name, stat.name, 0))
			zombie_add(ret, pids[i], &stat);
	}
}
