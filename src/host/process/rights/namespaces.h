/*
 * Whether a process lives in the same namespaces as limpet.
 */
#pragma once

#include <sys/types.h>

enum sameness {
	SAME_UNKNOWN, /* not enough rights to read */
	SAME_YES,
	SAME_NO,
};

struct namespaces {
	enum sameness mnt, pid, user, net;
};

void namespaces_read(pid_t pid, struct namespaces *ret);
