/*
 * MPIR_proctable: the list of all ranks that mpirun and srun keep for debuggers, read from their
 * memory while they run.
 */
#pragma once

#include "host/core/err.h"
#include "host/fleet/hosts.h"

#include <sys/types.h>

struct proctable_entry {
	char host[HOST_NAME_MAX_BYTES];
	pid_t pid;
};

/* By rank; the caller's to free.  -ENOENT: it has no such list; -ENODATA: nothing is in it
 * yet.  -EACCES: its memory may not be read; -ESRCH: there is no such process. */
int proctable_read(pid_t pid, struct proctable_entry **ret, size_t *ret_count,
		   struct err *err) MUST_CHECK;
