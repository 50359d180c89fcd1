/*
 * Whether a process lives in the same namespaces as we do.
 */
#pragma once

#include <sys/types.h>

enum sameness {
	SAME_UNKNOWN, /* the rights did not suffice to look */
	SAME_YES,
	SAME_NO,
};

struct namespaces {
	enum sameness mnt, pid, user, net;
};

void namespaces_read(pid_t pid, struct namespaces *ret);
