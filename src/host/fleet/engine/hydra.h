/*
 * MPICH's launcher has no list of its ranks: its children name the hosts, and the port by which the
 * proxies there belong to it.
 */
#pragma once

#include "host/core/err.h"
#include "host/fleet/hosts.h"

#include <sys/types.h>

struct hydra {
	struct hosts hosts;
	bool has_local;                     /* a proxy runs on this machine, too */
	char key[HOST_NAME_MAX_BYTES + 16]; /* "login:33715"; "": none was found */
};

/* One command line, with zeros between its words: takes what it tells.  0 or -ENOMEM. */
int hydra_take(struct hydra *hydra, const char *command, size_t size) MUST_CHECK;

/* The children of a process.  -ENOENT: none of them is a proxy. */
int hydra_read(struct hydra *ret, pid_t pid, struct err *err) MUST_CHECK;
void hydra_done(struct hydra *hydra);
