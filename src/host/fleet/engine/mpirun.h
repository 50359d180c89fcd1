/*
 * The hosts and ranks of an MPI launcher that runs here.
 */
#pragma once

#include "host/core/err.h"
#include "host/fleet/hosts.h"

#include <sys/types.h>

/* MPIR_proctable: the list of all ranks that mpirun and srun keep for debuggers, read from their
 * memory while they run. */
struct proctable_entry {
	char host[HOST_NAME_MAX_BYTES];
	pid_t pid;
};

/* By rank; the caller frees it.  -ENOENT: there is no such list; -ENODATA: it is still empty.
 * -EACCES: its memory may not be read; -ESRCH: there is no such process. */
int proctable_read(pid_t pid, struct proctable_entry **ret, size_t *ret_count,
		   struct err *err) MUST_CHECK;

/* MPICH's launcher has no such list: its children's arguments name the hosts, and the port that
 * identifies the proxies there. */
struct hydra {
	struct hosts hosts;
	bool has_local;                     /* a proxy runs on this machine, too */
	char key[HOST_NAME_MAX_BYTES + 16]; /* "login:33715"; "": not found */
};

/* Parses one command line, with zeros between its words.  0 or -ENOMEM. */
int hydra_take(struct hydra *hydra, const char *command, size_t size) MUST_CHECK;

/* The children of a process.  -ENOENT: none of them is a proxy. */
int hydra_read(struct hydra *ret, pid_t pid, struct err *err) MUST_CHECK;

static inline void hydra_done(struct hydra *hydra)
{
	hosts_done(&hydra->hosts);
}
