/*
 * Lists of hosts in the syntax of Slurm, pdsh and clustershell: "n[1-4,7],gpu-[01-03],login".
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/err.h"
#include "host/core/pool.h"

#include <stdbool.h>

#define HOSTS_MAX           16384u
#define HOST_NAME_MAX_BYTES 256u

/* Zero is empty. */
struct hosts {
	char **names; /* owned by the pool: each once, in the order of the list */
	size_t count;
	struct pool pool;
};

/* Exit code EXIT_USAGE for an invalid list. */
int hosts_parse(struct hosts *ret, const char *text, struct err *err) MUST_CHECK;
/* Unless it is there already; 0 or -ENOMEM. */
int hosts_add(struct hosts *hosts, const char *name) MUST_CHECK;
void hosts_done(struct hosts *hosts);
DEFINE_STRUCT_CLEANUP(hosts, hosts_done)

/* Letters, digits and "._-:@", none of them special to a shell, and no '-' first: never an
 * option. */
bool host_name_is_sound(const char *name);
