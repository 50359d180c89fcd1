/*
 * What the control groups of a process allow it: to run, and memory.  Both versions of cgroups, as
 * mounted on this machine; an unreadable one allows everything.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

#define CGROUP_PATH_MAX 512

struct cgroup {
	char frozen[CGROUP_PATH_MAX]; /* the file that stops it; "": it may run */
	uint64_t memory_left;         /* bytes until the kernel kills; UINT64_MAX: no limit */
	uint64_t memory_limit;
	char memory[CGROUP_PATH_MAX]; /* the folder of that limit, "" */
	bool shares_limit;            /* limpet's own memory counts there, too */
};

void cgroup_read(pid_t pid, struct cgroup *ret);

/* 0; -EBUSY: it is frozen; -ENOMEM: less than so many bytes are left, of which `shared` count only
 * if limpet is in the same group. */
int cgroup_check(pid_t pid, uint64_t bytes, uint64_t shared, struct err *err) MUST_CHECK;
