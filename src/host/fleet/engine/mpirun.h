/*
 * The hosts of a launcher of MPICH's.
 */
#pragma once

#include "host/core/err.h"
#include "host/fleet/hosts.h"

#include <sys/types.h>

/* It has no list of its ranks: its children's arguments name the hosts, and the port that
 * identifies the proxies there. */
struct hydra {
	struct hosts hosts;
	bool has_local;                     /* a proxy runs on this machine, too */
	char key[HOST_NAME_MAX_BYTES + 16]; /* "login:33715"; "": not found */
};

/* Parses one command line, with zeros between its words.  0 or -ENOMEM. */
int hydra_take(struct hydra *hydra, const char *command, size_t size) MUST_CHECK;

static inline void hydra_done(struct hydra *hydra)
{
	hosts_done(&hydra->hosts);
}
