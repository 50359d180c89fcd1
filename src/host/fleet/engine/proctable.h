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

/* By rank; the caller frees it.  -ENOENT: there is no such list; -ENODATA: it is still empty.
 * -EACCES: its memory may not be read; -ESRCH: there is no such process. */
int proctable_read(pid_t pid, struct proctable_entry **ret, size_t *ret_count,
		   struct err *err) MUST_CHECK;
